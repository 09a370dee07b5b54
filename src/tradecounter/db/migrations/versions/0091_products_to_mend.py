"""Where products want work, by index: without picture, description or EAN, and with a price below their cost."""

from tradecounter.db.migrations.sql import run_sql

revision = "0091"
down_revision = "0090"
works_from = "0051"

_INDEXES = """
    lock table product, price in access exclusive mode;
    create index product_without_picture on product (sku_key) where active and images = '[]';
    create index product_without_description on product (sku_key)
        where active and description = '' and description_html = '';
    create index product_without_ean on product (sku_key) where active and ean is null;
"""

# Comparing all prices with all costs takes a second with 100,000 products. Two transactions that change a
# price and the cost of one product at the same moment do not see each other: the next change of either notes it.
_BELOW_COST = """
    create table product_below_cost (product_id bigint primary key references product on delete cascade);
    comment on table product_below_cost is 'Products with a list price below the purchase cost; triggers keep it.';
    create function note_below_cost(ids bigint[]) returns void language sql as $$
        delete from product_below_cost b where b.product_id = any(ids) and not exists (
            select from product p join price c on c.product_id = p.id where p.id = b.product_id
            and least(c.single_unit_cost, c.five_plus_unit_cost, c.ten_plus_unit_cost) < p.purchase_cost);
        insert into product_below_cost
        select p.id from product p where p.id = any(ids) and exists (
            select from price c where c.product_id = p.id
            and least(c.single_unit_cost, c.five_plus_unit_cost, c.ten_plus_unit_cost) < p.purchase_cost)
        order by p.id on conflict do nothing;
    $$;
    create function note_prices_below_cost() returns trigger language plpgsql as $$
    begin
        perform note_below_cost((select array_agg(distinct product_id) from part));
        return null;
    end
    $$;
    create function note_costs_above_price() returns trigger language plpgsql as $$
    begin
        perform note_below_cost((
            select array_agg(n.id) from changed n join former o using (id)
            where n.purchase_cost is distinct from o.purchase_cost));
        return null;
    end
    $$;
    create trigger added_prices_below_cost after insert on price
        referencing new table as part for each statement execute function note_prices_below_cost();
    create trigger changed_prices_below_cost after update on price
        referencing new table as part for each statement execute function note_prices_below_cost();
    create trigger removed_prices_below_cost after delete on price
        referencing old table as part for each statement execute function note_prices_below_cost();
    create trigger changed_costs_above_price after update on product
        referencing old table as former new table as changed
        for each statement execute function note_costs_above_price();
    select note_below_cost(array_agg(id)) from product where purchase_cost is not null;
"""


def upgrade() -> None:
    """Create the indexes, and note the products that are below their cost now."""
    run_sql(_INDEXES)
    run_sql(_BELOW_COST)
