"""Pictures and PDF files that customers send with their requests."""

from tradecounter.db.migrations.sql import run_sql

revision = "0049"
down_revision = "0048"
works_from = "0048"

_FILES = """
    create table request_file (
        id bigint generated always as identity primary key,
        request_id bigint not null references customer_request on delete cascade,
        name text not null,
        media_type text not null,
        content bytea not null
    );
    create index request_file_of_request on request_file (request_id, id);
"""


def upgrade() -> None:
    """Create the table."""
    run_sql(_FILES)
