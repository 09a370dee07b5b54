"""E-mails that users choose: every dispatch, invoices that are due soon, changed prices of a list."""

from tradecounter.db.migrations.sql import run_sql

revision = "0047"
down_revision = "0046"
works_from = "0046"

_CHOSEN = """
    create table chosen_alert (
        user_id bigint not null references customer_user on delete cascade,
        kind text not null check (kind in ('dispatched', 'invoices_due')),
        told_until timestamptz not null,
        primary key (user_id, kind)
    );
    comment on column chosen_alert.told_until is 'Invoices due until then were in an e-mail, or due before the choice.';
"""
_PRICES = """
    create table price_alert (
        user_id bigint not null references customer_user on delete cascade,
        list_id bigint not null references saved_list on delete cascade,
        known jsonb not null,
        changes jsonb not null default '{}',
        checked_on date not null,
        primary key (user_id, list_id)
    );
    comment on column price_alert.known is 'The price of one unit by product id, as the user knows it.';
    comment on column price_alert.changes is 'The latest changes: before and after by product id.';
    create index price_alert_of_list on price_alert (list_id);
    create index price_alert_to_check on price_alert (checked_on);
"""


def upgrade() -> None:
    """Create the tables."""
    run_sql(_CHOSEN, _PRICES)
