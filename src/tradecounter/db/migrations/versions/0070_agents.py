"""Agents: their clients, what customers' users allow them, their tokens, and what they have ordered."""

from tradecounter.db.migrations.sql import run_sql

revision = "0070"
down_revision = "0064"
works_from = "0051"

_TABLES = """
    create table agent_client (
        client_id text primary key,
        name text not null,
        redirect_uris text[] not null,
        address text,
        created_at timestamptz not null,
        read_at timestamptz
    );
    create index agent_client_of_address on agent_client (address, created_at) where address is not null;
    comment on table agent_client is 'Programs that ask customers to let them order at /mcp. They have no secret.';
    comment on column agent_client.address is 'From where it was registered, until a customer allows it.';
    comment on column agent_client.read_at is
        'When the document at its client id, an address, was read; null for a registered client.';

    create table agent_consent (
        id bigint generated always as identity primary key,
        client_id text not null references agent_client,
        customer_id bigint not null references customer,
        user_id bigint references customer_user on delete set null,
        name text not null,
        redirect_uri text not null,
        code_hash bytea not null unique,
        code_challenge text not null,
        code_expires_at timestamptz not null,
        code_used_at timestamptz,
        scopes text[] not null,
        order_limit numeric(18,2),
        day_limit numeric(18,2),
        given_at timestamptz not null,
        expires_at timestamptz not null,
        last_used_at timestamptz,
        ended_at timestamptz
    );
    create index agent_consent_of_customer on agent_consent (customer_id);
    create index agent_consent_of_user on agent_consent (user_id) where user_id is not null;
    create index agent_consent_of_client on agent_consent (client_id);
    comment on table agent_consent is 'What a user has allowed an agent for its customer, with the code that says so.';
    comment on column agent_consent.order_limit is 'Of one order, in pounds with VAT and shipping; null: no orders.';
    comment on column agent_consent.day_limit is 'Of all orders of a day in the United Kingdom.';

    create table agent_token (
        hash bytea primary key,
        consent_id bigint not null references agent_consent on delete cascade,
        refreshes boolean not null,
        created_at timestamptz not null,
        expires_at timestamptz not null,
        used_at timestamptz
    );
    create index agent_token_of_consent on agent_token (consent_id);
    create index agent_token_by_expiry on agent_token (expires_at);
    comment on table agent_token is 'Access tokens for /mcp alone, and tokens that refresh them.';

    create table agent_order (
        order_id bigint primary key references orders on delete cascade,
        customer_id bigint not null references customer,
        client_id text not null,
        day date not null,
        gross numeric(18,2) not null
    );
    create index agent_order_of_day on agent_order (customer_id, client_id, day);
    comment on table agent_order is 'Orders that an agent has confirmed by itself; they count towards its day.';
"""


def upgrade() -> None:
    """Add the tables."""
    run_sql(_TABLES)
