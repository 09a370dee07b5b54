"""One-time links with which customers accept priced quotes."""

from tradecounter.db.migrations.sql import run_sql

revision = "0022"
down_revision = "0021"

QUOTE_LINKS = """
create table quote_link (
    order_id bigint primary key references orders on delete cascade,
    id bigint not null unique,
    hash bytea not null unique,
    created_at timestamptz not null,
    used_at timestamptz
);
comment on table quote_link is 'The link in the e-mail of a priced quote; a new price replaces it.';
comment on column quote_link.id is 'Random. The secret in the link is derived from it and from the secret key.';
"""


def upgrade() -> None:
    """Create the table. Quotes that are already priced have no link until they are priced again."""
    run_sql(QUOTE_LINKS)
