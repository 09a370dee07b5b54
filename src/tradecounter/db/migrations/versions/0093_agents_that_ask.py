"""Which agent asked for an approval: people took the order for one of the person who had allowed the agent."""

from tradecounter.db.migrations.sql import run_sql

revision = "0093"
down_revision = "0092"
works_from = "0051"


def upgrade() -> None:
    """Add the column."""
    run_sql("""
        alter table order_approval add column agent text not null default '';
        comment on column order_approval.agent is 'The agent of the user that asked; empty: the user did.';
    """)
