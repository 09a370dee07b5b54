"""Where products are in the warehouse."""

from tradecounter.db.migrations.sql import run_sql

revision = "0043"
down_revision = "0042"
works_from = "0042"

_PLACES = """
    alter table stock_level add column location text not null default '';
    comment on column stock_level.location is 'The place in the warehouse, such as a shelf; empty if unknown.';
"""


def upgrade() -> None:
    """Create the column."""
    run_sql(_PLACES)
