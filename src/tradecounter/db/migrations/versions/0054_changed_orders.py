"""When an order changed last: triggers keep it, so that no statement can forget it."""

from tradecounter.db.migrations.sql import run_sql

revision = "0054"
down_revision = "0051"
works_from = "0051"

# The first update of an order in a transaction gives the row the transaction's id, and the time; the parts of the order
# that change later in the transaction then need no further update. `now()` as a default needs no rewrite of the table.
_CHANGES = """
    alter table orders add column changed_at timestamptz not null default now();
    comment on column orders.changed_at is 'When what the customer sees of the order changed last; triggers set it.';
    create index orders_by_change on orders (customer_id, changed_at) where state = 'confirmed';

    create function note_change() returns trigger language plpgsql as $$
    begin
        new.changed_at := greatest(old.changed_at, new.confirmed_at, clock_timestamp());
        return new;
    end
    $$;
    create trigger order_changes before update on orders
        for each row when (new.changed_at = old.changed_at) execute function note_change();

    create function note_changed_order(changed bigint) returns void language sql as $$
        update orders set status = status
        where id = changed and number is not null and xmin <> pg_current_xact_id()::xid
    $$;
    create function note_changed_parts() returns trigger language plpgsql as $$
    begin
        perform note_changed_order(c.order_id) from (select distinct order_id from part order by 1) as c;
        return null;
    end
    $$;
    create function note_changed_parts_of_lines() returns trigger language plpgsql as $$
    begin
        perform note_changed_order(c.order_id) from (
            select distinct l.order_id from part join order_line l on l.id = part.line_id order by 1) as c;
        return null;
    end
    $$;
    create function note_changed_parts_of_shipments() returns trigger language plpgsql as $$
    begin
        perform note_changed_order(c.order_id) from (
            select distinct s.order_id from part join shipment s on s.id = part.shipment_id order by 1) as c;
        return null;
    end
    $$;
"""
# An update of configurations only encrypts them with another key. Shipments are deleted after their parts.
_PARTS = (
    ("order_line", "note_changed_parts", ("insert", "update", "delete")),
    ("shipment", "note_changed_parts", ("insert", "update", "delete")),
    ("packing_video", "note_changed_parts", ("insert", "update", "delete")),
    ("configuration", "note_changed_parts_of_lines", ("insert", "delete")),
    ("shipment_line", "note_changed_parts_of_shipments", ("insert", "update", "delete")),
    ("serial_number", "note_changed_parts_of_shipments", ("insert", "update", "delete")),
    ("tracking_event", "note_changed_parts_of_shipments", ("insert", "update", "delete")),
)


def upgrade() -> None:
    """Add the column, its index and the triggers."""
    run_sql(_CHANGES)
    for table, function, events in _PARTS:
        for event in events:
            rows = "old" if event == "delete" else "new"
            run_sql(
                f"create trigger {table}_{event}_changes_order after {event} on {table}"
                f" referencing {rows} table as part for each statement execute function {function}();"
            )
