"""Idempotency keys with their recorded responses; the pricing of quotes by support."""

from tradecounter.db.migrations.sql import run_sql

revision = "0003"
down_revision = "0002"

IDEMPOTENCY = """
create table idempotency_key (
    customer_id bigint not null references customer (id),
    key text not null,
    fingerprint bytea not null,
    status smallint not null,
    body bytea not null,
    created_at timestamptz not null,
    primary key (customer_id, key)
);
comment on table idempotency_key is 'Remembered for ever; written in the transaction of what the key made.';
comment on column idempotency_key.fingerprint is 'A hash of method, path and canonical JSON body.';
"""

QUOTES = """
alter table orders
    add column priced_at timestamptz,
    add column pricings integer not null default 0,
    add column quote_note text,
    add check (kind = 'quote' or priced_at is null);
comment on column orders.priced_at is 'When support last priced the quote; it cannot be confirmed before.';
create index quotes_waiting on orders (created_at) where kind = 'quote' and state = 'pending' and priced_at is null;
"""


def upgrade() -> None:
    """Create the table of keys; extend orders."""
    run_sql(IDEMPOTENCY, QUOTES)
