"""Webhook endpoints, their deliveries, and every attempt of a delivery."""

from tradecounter.db.migrations.sql import run_sql

revision = "0019"
down_revision = "0018"

ENDPOINTS = """
create table webhook (
    id bigint generated always as identity primary key,
    customer_id bigint references customer,
    url text not null,
    types text[] not null,
    description text not null,
    state text not null check (state in ('active', 'paused', 'disabled')),
    reason text,
    secret bytea not null,
    former_secret bytea,
    former_secret_until timestamptz,
    read_up_to bigint not null,
    failing_since timestamptz,
    created_at timestamptz not null,
    check ((former_secret is null) = (former_secret_until is null))
);
comment on column webhook.customer_id is 'Whose events it gets; null: the reseller, who gets all.';
comment on column webhook.types is 'Empty: all types.';
comment on column webhook.reason is 'Why it is not active; null: its owner paused it.';
comment on column webhook.secret is 'Encrypted, as is the former one.';
comment on column webhook.read_up_to is 'The sequence up to which every event for it has its delivery.';
comment on column webhook.failing_since is
    'The first failure since the last success; null: the last attempt succeeded.';
create index webhook_of_customer on webhook (customer_id);
"""

DELIVERIES = """
create table webhook_delivery (
    id bigint generated always as identity primary key,
    webhook_id bigint not null references webhook on delete cascade,
    sequence bigint references event,
    event_id text not null,
    type text not null,
    subject text not null,
    created_at timestamptz not null,
    attempts integer not null default 0,
    retries integer not null default 0,
    next_attempt_at timestamptz,
    delivered_at timestamptz,
    check (delivered_at is null or next_attempt_at is null)
);
comment on column webhook_delivery.sequence is 'The event; null for a ping.';
comment on column webhook_delivery.retries is
    'Failures since the endpoint was last set active; the wait grows with them.';
comment on column webhook_delivery.next_attempt_at is
    'Null while an earlier delivery of the subject waits, and after success. An attempt moves it on before it begins, '
    'so that a delivery of a killed worker is repeated.';
create index webhook_delivery_waiting on webhook_delivery (webhook_id, subject, id) where delivered_at is null;
create index webhook_delivery_due on webhook_delivery (webhook_id, next_attempt_at, id)
    where next_attempt_at is not null;
create index webhook_delivery_of_webhook on webhook_delivery (webhook_id, id);
create index webhook_delivery_by_age on webhook_delivery (delivered_at) where delivered_at is not null;

create table webhook_attempt (
    delivery_id bigint not null references webhook_delivery on delete cascade,
    attempt integer not null,
    at timestamptz not null,
    status smallint,
    milliseconds integer not null,
    error text,
    response text not null,
    primary key (delivery_id, attempt)
);
comment on column webhook_attempt.response is 'The first 2 kB of the body.';
create index webhook_attempt_by_age on webhook_attempt (at);
"""


def upgrade() -> None:
    """Create the tables."""
    run_sql(ENDPOINTS, DELIVERIES)
