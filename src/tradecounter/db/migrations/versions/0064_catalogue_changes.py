"""Which products changed with each version of the catalogue, of prices and of deliveries (docs/adr/0038)."""

from tradecounter.db.migrations.sql import run_sql

revision = "0064"
down_revision = "0063"
works_from = "0051"

_TABLES = """
    create table catalogue_change (
        id bigint generated always as identity primary key,
        topic text not null,
        version bigint,
        price_list text,
        customer_id bigint,
        product_ids bigint[]
    );
    create index catalogue_change_by_version on catalogue_change (topic, version);
    create index catalogue_change_without_version on catalogue_change (topic) where version is null;
    comment on table catalogue_change is
        'The products that a statement changed, for the change feed. Triggers write it. Stock levels have changed_by.';
    comment on column catalogue_change.version is
        'The version of the topic that shows the change; null until its transaction raises the version.';
    comment on column catalogue_change.product_ids is 'Null: all products.';

    create table catalogue_change_mark (
        at timestamptz primary key,
        versions jsonb not null,
        forgotten boolean not null default false
    );
    comment on table catalogue_change_mark is
        'The versions at a time. What is not newer than a forgotten mark has been deleted from catalogue_change.';
"""

# A statement on an inactive product changes nothing that customers see. What the reseller paid and the id in its own
# programs are not shown either.
_PRODUCTS = """
    create function note_changed_products() returns trigger language plpgsql as $$
    begin
        if tg_op = 'INSERT' then
            insert into catalogue_change (topic, product_ids)
            select 'catalogue', array_agg(id) from added where active having count(*) > 0;
        elsif tg_op = 'UPDATE' then
            insert into catalogue_change (topic, product_ids)
            select 'catalogue', array_agg(n.id) from changed n join former o using (id)
            where (n.active or o.active) and n is distinct from o
              and ((n.purchase_cost, n.external_id) is not distinct from (o.purchase_cost, o.external_id)
                   or to_jsonb(n) - array['purchase_cost', 'external_id']
                      is distinct from to_jsonb(o) - array['purchase_cost', 'external_id'])
            having count(*) > 0;
        else
            insert into catalogue_change (topic, product_ids)
            select 'catalogue', array_agg(id) from former where active having count(*) > 0;
        end if;
        return null;
    end $$;
"""

# Products show an attribute's name, or its key if several attributes share the name or it is inactive.
_ATTRIBUTES = """
    create function note_changed_attributes() returns trigger language plpgsql as $$
    begin
        insert into catalogue_change (topic) values ('catalogue');
        return null;
    end $$;

    create trigger added_attribute_is_noted after insert on attribute
    for each row when (new.active) execute function note_changed_attributes();
    create trigger changed_attribute_is_noted after update on attribute
    for each row when ((old.key, old.name, old.active) is distinct from (new.key, new.name, new.active))
    execute function note_changed_attributes();
    create trigger removed_attribute_is_noted after delete on attribute
    for each row when (old.active) execute function note_changed_attributes();
"""

_PRICES = """
    create function note_changed_prices() returns trigger language plpgsql as $$
    begin
        if tg_op = 'INSERT' then
            insert into catalogue_change (topic, price_list, product_ids)
            select 'prices', price_list, array_agg(product_id) from added group by price_list;
        elsif tg_op = 'UPDATE' then
            insert into catalogue_change (topic, price_list, product_ids)
            select 'prices', price_list, array_agg(product_id)
            from changed n full join former o using (price_list, product_id)
            where (n.single_unit_cost, n.five_plus_unit_cost, n.ten_plus_unit_cost)
                  is distinct from (o.single_unit_cost, o.five_plus_unit_cost, o.ten_plus_unit_cost)
            group by price_list;
        else
            insert into catalogue_change (topic, price_list, product_ids)
            select 'prices', price_list, array_agg(product_id) from former group by price_list;
        end if;
        return null;
    end $$;
"""

_CONTRACTS = """
    create function note_changed_contracts() returns trigger language plpgsql as $$
    begin
        if tg_op = 'INSERT' then
            insert into catalogue_change (topic, customer_id, product_ids)
            select 'contracts', customer_id, array_agg(product_id) from added group by customer_id;
        elsif tg_op = 'UPDATE' then
            insert into catalogue_change (topic, customer_id, product_ids)
            select 'contracts', each.customer_id, array_agg(each.product_id)
            from changed n join former o using (id),
                 lateral (values (n.customer_id, n.product_id), (o.customer_id, o.product_id))
                     as each (customer_id, product_id)
            where (n.customer_id, n.product_id, n.single_unit_cost, n.five_plus_unit_cost, n.ten_plus_unit_cost,
                   n.valid_from, n.valid_until)
                  is distinct from
                  (o.customer_id, o.product_id, o.single_unit_cost, o.five_plus_unit_cost, o.ten_plus_unit_cost,
                   o.valid_from, o.valid_until)
            group by each.customer_id;
        else
            insert into catalogue_change (topic, customer_id, product_ids)
            select 'contracts', customer_id, array_agg(product_id) from former group by customer_id;
        end if;
        return null;
    end $$;
"""

_DELIVERIES = """
    create function note_changed_deliveries() returns trigger language plpgsql as $$
    begin
        if tg_op = 'INSERT' then
            insert into catalogue_change (topic, product_ids)
            select 'deliveries', array_agg(product_id) from added having count(*) > 0;
        elsif tg_op = 'UPDATE' then
            insert into catalogue_change (topic, product_ids)
            select 'deliveries', array_agg(product_id)
            from (
                (table changed except all table former) union all (table former except all table changed)
            ) as differing
            having count(*) > 0;
        else
            insert into catalogue_change (topic, product_ids)
            select 'deliveries', array_agg(product_id) from former having count(*) > 0;
        end if;
        return null;
    end $$;
"""

_TRIGGERS = """
    create trigger added_{table}s_are_noted after insert on {table}
    referencing new table as added for each statement execute function {function}();
    create trigger changed_{table}s_are_noted after update on {table}
    referencing old table as former new table as changed for each statement execute function {function}();
    create trigger removed_{table}s_are_noted after delete on {table}
    referencing old table as former for each statement execute function {function}();
"""

# Whoever raises a topic's version, the changes get it: also those that a statement outside the program made before.
_VERSIONS = """
    create function number_catalogue_changes() returns trigger language plpgsql as $$
    begin
        update catalogue_change set version = new.version where topic = new.topic and version is null;
        return null;
    end $$;

    create trigger catalogue_changes_are_numbered after insert or update on change
    for each row execute function number_catalogue_changes();
"""


def upgrade() -> None:
    """Create the tables and the triggers that fill them."""
    run_sql(_TABLES, _PRODUCTS, _PRICES, _CONTRACTS, _DELIVERIES)
    run_sql(_TRIGGERS.format(table="product", function="note_changed_products"))
    run_sql(_TRIGGERS.format(table="price", function="note_changed_prices"))
    run_sql(_TRIGGERS.format(table="contract_price", function="note_changed_contracts"))
    run_sql(_TRIGGERS.format(table="incoming_stock", function="note_changed_deliveries"))
    run_sql(_ATTRIBUTES, _VERSIONS)
