"""Whether the database is that of a sandbox."""

from tradecounter.db.migrations.sql import run_sql

revision = "0063"
down_revision = "0062"
works_from = "0051"

_SANDBOX = """
    alter table installation add column sandbox boolean not null default false;
    comment on column installation.sandbox is 'A sandbox''s database; only programs with SANDBOX=true use it.';
"""


def upgrade() -> None:
    """Add the column."""
    run_sql(_SANDBOX)
