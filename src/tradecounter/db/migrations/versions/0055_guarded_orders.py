"""Orders that must not wait for stock."""

from tradecounter.db.migrations.sql import run_sql

revision = "0055"
down_revision = "0054"
works_from = "0051"

_GUARD = """
    alter table orders add column allow_back_orders boolean not null default true;
    comment on column orders.allow_back_orders is 'Whether the order may wait for stock, as its creation said.';
"""


def upgrade() -> None:
    """Add the column."""
    run_sql(_GUARD)
