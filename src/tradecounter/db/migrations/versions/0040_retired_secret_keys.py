"""Secret keys that `secret rotate` replaces: they decrypt until it has ended, and encrypt nothing more."""

from tradecounter.db.migrations.sql import run_sql

revision = "0040"
down_revision = "0039"
works_from = "0028"

RETIRED_KEYS = "alter table secret_key add column retired_at timestamptz;"


def upgrade() -> None:
    """Add the column."""
    run_sql(RETIRED_KEYS)
