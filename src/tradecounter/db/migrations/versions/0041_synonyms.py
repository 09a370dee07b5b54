"""Groups of words that mean the same, for the search of products."""

from tradecounter.db.migrations.sql import run_sql

revision = "0041"
down_revision = "0040"


def upgrade() -> None:
    """Create the table of groups."""
    run_sql(
        "create table synonym_group (key text primary key, words text not null, active boolean not null default true)"
    )
