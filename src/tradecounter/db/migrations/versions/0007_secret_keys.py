"""Fingerprints of the secret keys in use, to detect a wrong key."""

from tradecounter.db.migrations.sql import run_sql

revision = "0007"
down_revision = "0006"

KEYS = """
create table secret_key (
    fingerprint text primary key,
    used_since timestamptz not null
);
comment on table secret_key is 'Fingerprints of the keys that data in this database may be encrypted with.';
"""


def upgrade() -> None:
    """Create the table; the first service that starts registers its key."""
    run_sql(KEYS)
