"""When webhooks, users, keys, addresses, contacts and remittances changed last, as of the records before.

What the service itself writes all the time, such as when a key was last used, is no change: the triggers are of the
other columns alone, so that those writes cost nothing more.
"""

from typing import LiteralString

from tradecounter.db.migrations.sql import run_sql

revision = "0092"
down_revision = "0091"
works_from = "0051"

_COLUMNS: dict[LiteralString, LiteralString] = {
    "webhook": "url, types, description, state, reason, failing_since",
    "customer_user": "email, name, role, more_roles, order_limit, password_hash, disabled_at",
    "api_key": "name, scopes, networks, expires_at, disabled_at",
    "address": "details",
    "customer_contact": "name, task, email, phone",
    "remittance": "payment_id",
}
_CHANGED: LiteralString = """
    alter table {table} add column changed_at timestamptz not null default now();
    comment on column {table}.changed_at is 'When it changed last; a trigger sets it.';
    create trigger {table}_changes before update of {columns} on {table}
        for each row execute function note_changed_record();
"""
_BANK_LINES = "create index bank_line_by_change on bank_line (changed_at);"


def upgrade() -> None:
    """Add the columns, the triggers and the index."""
    for table, columns in _COLUMNS.items():
        run_sql(_CHANGED.format(table=table, columns=columns))
    run_sql(_BANK_LINES)
