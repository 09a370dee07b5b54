"""The layout of a large catalogue, which machines read instead of all products.

It is compressed already, so PostgreSQL does not try to compress it again.
"""

from tradecounter.db.migrations.sql import run_sql

revision = "0033"
down_revision = "0032"
works_from = "0028"

LAYOUT = """
create table catalogue_layout (
    version bigint primary key,
    program text not null,
    data bytea not null
);
alter table catalogue_layout alter column data set storage external;
"""


def upgrade() -> None:
    """Create the table."""
    run_sql(LAYOUT)
