"""Notes about orders that customers have made, which they see again."""

from tradecounter.db.migrations.sql import run_sql

revision = "0051"
down_revision = "0050"
works_from = "0050"

_OWN = """
    alter table order_note add column by_customer boolean not null default false;
    comment on table order_note is 'Notes about orders. Customers see their own, and none of the reseller''s.';
"""


def upgrade() -> None:
    """Add the column."""
    run_sql(_OWN)
