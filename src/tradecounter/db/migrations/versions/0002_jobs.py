"""The job queue's own tables, as the installed Procrastinate ships them.

Revision ID: 0002
Revises: 0001
"""

from procrastinate.schema import SchemaManager

from tradecounter.db.migrations.sql import run_sql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the queue's tables and functions."""
    run_sql(SchemaManager.get_schema())
