"""What an API key may do, until when and from where."""

from tradecounter.db.migrations.sql import run_sql

revision = "0058"
down_revision = "0056"
works_from = "0051"

_LIMITS = """
    alter table api_key
        add column scopes text[],
        add column expires_at timestamptz,
        add column networks text[] not null default '{}';
    comment on column api_key.scopes is 'What the key may do; null: everything.';
    comment on column api_key.networks is 'From where it may be used; empty: from anywhere.';
"""


def upgrade() -> None:
    """Add the columns."""
    run_sql(_LIMITS)
