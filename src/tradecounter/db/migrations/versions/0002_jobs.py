"""The job queue's own tables, from the installed Procrastinate."""

from procrastinate.schema import SchemaManager

from tradecounter.db.migrations.sql import run_sql

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the queue's tables and functions."""
    run_sql(SchemaManager.get_schema())
