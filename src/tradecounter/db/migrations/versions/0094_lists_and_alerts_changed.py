"""When lists of products and users' alerts changed last, and which orders a request for approval was for before.

An agent asks by the code that it knows what became of its order: of one that was priced again, it heard of no approval.
"""

from tradecounter.db.migrations.sql import run_sql

revision = "0094"
down_revision = "0093"
works_from = "0051"

_LISTS = """
    alter table saved_list add column changed_at timestamptz not null default now();
    comment on column saved_list.changed_at is 'When it changed last; triggers set it.';
    create trigger saved_list_changes before update of name, user_id on saved_list
        for each row execute function note_changed_record();
    create function note_changed_lists() returns trigger language plpgsql as $$
    begin
        update saved_list set changed_at = clock_timestamp() where id in (select list_id from part);
        return null;
    end
    $$;
    create trigger saved_list_line_insert_changes_list after insert on saved_list_line
        referencing new table as part for each statement execute function note_changed_lists();
    create trigger saved_list_line_update_changes_list after update on saved_list_line
        referencing new table as part for each statement execute function note_changed_lists();
    create trigger saved_list_line_delete_changes_list after delete on saved_list_line
        referencing old table as part for each statement execute function note_changed_lists();
"""

# A stock alert has the time when it began, and when the user was told; only its end leaves no trace.
_ALERTS = """
    alter table customer_user add column alerts_changed_at timestamptz not null default now();
    comment on column customer_user.alerts_changed_at is 'When an alert of the user began or ended; triggers set it.';
    create function note_changed_alerts() returns trigger language plpgsql as $$
    declare
        users bigint[] := (select array_agg(user_id) from part p where to_jsonb(p) ->> 'in_stock_at' is null);
    begin
        perform from customer_user where id = any(users) order by id for no key update;
        update customer_user set alerts_changed_at = clock_timestamp() where id = any(users);
        return null;
    end
    $$;
    create trigger chosen_alert_insert_changes_user after insert on chosen_alert
        referencing new table as part for each statement execute function note_changed_alerts();
    create trigger chosen_alert_delete_changes_user after delete on chosen_alert
        referencing old table as part for each statement execute function note_changed_alerts();
    create trigger price_alert_insert_changes_user after insert on price_alert
        referencing new table as part for each statement execute function note_changed_alerts();
    create trigger price_alert_delete_changes_user after delete on price_alert
        referencing old table as part for each statement execute function note_changed_alerts();
    create trigger stock_alert_delete_changes_user after delete on stock_alert
        referencing old table as part for each statement execute function note_changed_alerts();
"""

_APPROVALS = """
    alter table order_approval
        add column former_orders bigint[] not null default '{}', add column priced_at timestamptz;
    comment on column order_approval.former_orders is 'The orders that it was for, until they were priced again.';
    comment on column order_approval.priced_at is 'When its order was priced again.';
    create index order_approval_of_former_order on order_approval using gin (former_orders)
        where former_orders <> '{}';
"""


def upgrade() -> None:
    """Add the columns, the triggers and the index."""
    run_sql(_LISTS, _ALERTS, _APPROVALS)
