"""When records that the back office lists changed last: triggers keep it, so that no statement can forget it."""

from typing import LiteralString

from tradecounter.db.migrations.sql import run_sql

revision = "0086"
down_revision = "0085"
works_from = "0051"

# A statement that writes the values which are there changes nothing. Of balances, a generated column is not known yet.
_FUNCTIONS = """
    create function note_changed_record() returns trigger language plpgsql as $$
    begin
        if new is distinct from old then
            new.changed_at := greatest(old.changed_at, clock_timestamp());
        end if;
        return new;
    end
    $$;
    create function note_changed_payments() returns trigger language plpgsql as $$
    begin
        update payment p set changed_at = clock_timestamp() from (select distinct payment_id as id from part) as c
        where p.id = c.id and p.xmin <> pg_current_xact_id()::xid;
        return null;
    end
    $$;
    create trigger allocation_changes_payment after insert on allocation
        referencing new table as part for each statement execute function note_changed_payments();
    create function note_changed_returns() returns trigger language plpgsql as $$
    begin
        update order_return r set changed_at = clock_timestamp() from (select distinct return_id as id from part) as c
        where r.id = c.id and r.xmin <> pg_current_xact_id()::xid;
        return null;
    end
    $$;
    create trigger return_line_changes_return after update on return_line
        referencing new table as part for each statement execute function note_changed_returns();
"""

_TABLES = ("customer", "product", "invoice_balance", "credit_note", "payment", "customer_request", "order_return")
_CHANGED: LiteralString = """
    alter table {table} add column changed_at timestamptz not null default now();
    comment on column {table}.changed_at is 'When it changed last; triggers set it.';
    create index {table}_by_change on {table} (changed_at);
    create trigger {table}_changes before update on {table}
        for each row execute function note_changed_record();
"""
_ORDERS = "create index orders_by_change_of_any on orders (changed_at);"

# A SKU that is spelled anew is noted with its former spelling, also of inactive products, which copies may still have.
# Customers do not see `changed_at`, so a change of it alone is not noted.
_PRODUCTS = """
    create or replace function note_changed_products() returns trigger language plpgsql as $$
    begin
        if tg_op = 'INSERT' then
            insert into catalogue_change (topic, product_ids)
            select 'catalogue', array_agg(id) from added where active having count(*) > 0;
        elsif tg_op = 'UPDATE' then
            insert into catalogue_change (topic, product_ids, former_skus)
            select 'catalogue', coalesce(array_agg(n.id) filter (where n.active or o.active), '{}'),
                   jsonb_object_agg(n.id, o.sku) filter (where n.sku <> o.sku)
            from changed n join former o using (id)
            where (n.active or o.active or n.sku <> o.sku) and n is distinct from o
              and ((n.purchase_cost, n.external_id) is not distinct from (o.purchase_cost, o.external_id)
                   or to_jsonb(n) - array['purchase_cost', 'external_id', 'changed_at']
                      is distinct from to_jsonb(o) - array['purchase_cost', 'external_id', 'changed_at'])
            having count(*) > 0;
        else
            insert into catalogue_change (topic, product_ids)
            select 'catalogue', array_agg(id) from former where active having count(*) > 0;
        end if;
        return null;
    end $$;
"""


def upgrade() -> None:
    """Add the columns, their indexes and the triggers."""
    run_sql(_FUNCTIONS)
    for table in _TABLES:
        run_sql(_CHANGED.format(table=table))
    run_sql(_ORDERS, _PRODUCTS)
