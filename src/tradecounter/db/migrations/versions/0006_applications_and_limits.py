"""Applications and their access tokens; failed credentials, blocked addresses, counted requests."""

from tradecounter.db.migrations.sql import run_sql

revision = "0006"
down_revision = "0005"

APPLICATIONS = """
create table application (
    client_id text primary key,
    name text not null,
    secret_hash bytea not null,
    created_at timestamptz not null,
    disabled_at timestamptz
);

create table access_token (
    id bigint generated always as identity primary key,
    hash bytea not null unique,
    client_id text not null references application (client_id),
    customer_id bigint not null references customer (id),
    created_at timestamptz not null,
    expires_at timestamptz not null,
    revoked_at timestamptz
);
create index access_token_of_customer on access_token (customer_id);
create index access_token_expiry on access_token (expires_at);
"""

LIMITS = """
create unlogged table credential_failure (
    address text not null,
    failed_at timestamptz not null
);
create index credential_failure_of_address on credential_failure (address, failed_at);
comment on table credential_failure is 'Unlogged: a crash resets the count.';

create table blocked_address (
    address text primary key,
    blocked_until timestamptz not null
);

create unlogged table request_count (
    customer_id bigint not null,
    window_start timestamptz not null,
    requests bigint not null,
    primary key (customer_id, window_start)
);
comment on table request_count is 'Requests of a customer in a window, added up from all processes.';
"""


def upgrade() -> None:
    """Create the tables of applications and limits."""
    run_sql(APPLICATIONS, LIMITS)
