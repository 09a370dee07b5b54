"""Customers' feeds: catalogue files at secret addresses."""

from tradecounter.db.migrations.sql import run_sql

revision = "0024"
down_revision = "0023"

FEEDS = """
create table feed (
    id bigint generated always as identity primary key,
    customer_id bigint not null references customer (id),
    name text not null,
    columns jsonb not null,
    filter jsonb not null,
    markup numeric(6, 2) not null,
    rounding text not null,
    vat_included boolean not null,
    hash bytea not null unique,
    secret bytea not null,
    created_at timestamptz not null,
    addressed_at timestamptz not null,
    last_read_at timestamptz
);
comment on table feed is 'Catalogue files that programs read at an address that only the customer knows.';
comment on column feed.columns is 'Pairs of a column and its heading, in the order of the file.';
comment on column feed.filter is 'Parameters of GET /product.';
comment on column feed.markup is 'Per cent that the prices are above what the customer pays.';
comment on column feed.hash is 'Of the secret in the address.';
comment on column feed.secret is 'The secret in the address, encrypted.';
comment on column feed.addressed_at is 'When the address was made.';
create index feed_of_customer on feed (customer_id, id);
"""


def upgrade() -> None:
    """Create the table."""
    run_sql(FEEDS)
