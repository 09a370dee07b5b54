"""Pictures of products that staff have uploaded."""

from tradecounter.db.migrations.sql import run_sql

revision = "0061"
down_revision = "0059"
works_from = "0051"

_PICTURES = """
    create table picture (
        digest text primary key,
        media_type text not null,
        content bytea not null,
        added_at timestamptz not null
    );
    comment on table picture is 'Pictures of products, which never change.';
    comment on column picture.digest is 'The SHA-256 of the content in hexadecimal digits, which the address has.';
    alter table picture alter column content set storage external;
"""


def upgrade() -> None:
    """Add the table."""
    run_sql(_PICTURES)
