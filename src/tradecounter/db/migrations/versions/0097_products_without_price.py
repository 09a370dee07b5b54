"""Which products are on no price list, so that a list of them compares no prices."""

from tradecounter.db.migrations.sql import run_sql

revision = "0097"
down_revision = "0096"
works_from = "0051"

# Prices are found by their list first: no index begins with the product.
_WITHOUT_PRICE = """
    lock table product, price in access exclusive mode;
    create table product_without_price (product_id bigint primary key references product on delete cascade);
    comment on table product_without_price is 'Products on no price list; triggers keep it.';
    create function note_product_without_price() returns trigger language plpgsql as $$
    begin
        insert into product_without_price select id from part order by id on conflict do nothing;
        return null;
    end
    $$;
    create function note_first_prices() returns trigger language plpgsql as $$
    begin
        delete from product_without_price where product_id in (select product_id from part);
        return null;
    end
    $$;
    create function note_last_prices() returns trigger language plpgsql as $$
    begin
        insert into product_without_price
        select p.id from product p where p.id in (select product_id from part) and not exists (
            select from price_list l cross join lateral (
                select from price c where c.price_list = l.key and c.product_id = p.id offset 0) as found)
        order by p.id on conflict do nothing;
        return null;
    end
    $$;
    create trigger added_products_without_price after insert on product
        referencing new table as part for each statement execute function note_product_without_price();
    create trigger added_first_prices after insert on price
        referencing new table as part for each statement execute function note_first_prices();
    create trigger removed_last_prices after delete on price
        referencing old table as part for each statement execute function note_last_prices();
    insert into product_without_price
    select id from product p where not exists (select from price c where c.product_id = p.id) order by id;
"""


def upgrade() -> None:
    """Note the products that are on no price list now, and keep that right."""
    run_sql(_WITHOUT_PRICE)
