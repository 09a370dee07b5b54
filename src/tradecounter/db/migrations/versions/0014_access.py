"""Staff members, service tokens, customers' users, one-time links, and idempotency keys of the back office."""

from tradecounter.db.migrations.sql import run_sql

revision = "0014"
down_revision = "0013"

PEOPLE = """
create table staff_member (
    id bigint generated always as identity primary key,
    email text not null,
    email_key text not null unique,
    name text not null,
    password_hash text,
    totp_secret bytea,
    roles text[] not null check (
        cardinality(roles) > 0
        and roles <@ array['support', 'warehouse', 'finance', 'catalogue', 'administrator']),
    created_at timestamptz not null,
    disabled_at timestamptz
);
comment on column staff_member.email_key is 'The address in lower case.';
comment on column staff_member.password_hash is 'Argon2; null until the member sets a password.';
comment on column staff_member.totp_secret is 'Encrypted.';

create table customer_user (
    id bigint generated always as identity primary key,
    customer_id bigint not null references customer on delete cascade,
    email text not null,
    email_key text not null unique,
    name text not null,
    password_hash text,
    totp_secret bytea,
    role text not null check (role in ('owner', 'buyer', 'accounts', 'developer')),
    created_at timestamptz not null,
    disabled_at timestamptz
);
comment on column customer_user.email_key is 'The address in lower case. A user belongs to one customer.';
comment on column customer_user.password_hash is 'Argon2; null until the user sets a password.';
comment on column customer_user.totp_secret is 'Encrypted.';
create index customer_user_of_customer on customer_user (customer_id);
insert into customer_user (customer_id, email, email_key, name, role, created_at)
select id, email_address, email_key, first_name || ' ' || last_name, 'owner', created_at from customer order by id;
"""

CREDENTIALS = """
create table service_token (
    id bigint generated always as identity primary key,
    name text not null,
    prefix text not null,
    hash bytea not null unique,
    scopes text[] not null check (cardinality(scopes) > 0),
    created_at timestamptz not null,
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz
);

create table one_time_link (
    id bigint primary key,
    hash bytea not null unique,
    staff_id bigint references staff_member,
    user_id bigint references customer_user on delete cascade,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    used_at timestamptz,
    check (num_nonnulls(staff_id, user_id) = 1)
);
comment on table one_time_link is 'Links at which staff members and users set their password.';
comment on column one_time_link.id is 'Random. The secret in the link is derived from it and from the secret key.';
create index one_time_link_of_staff on one_time_link (staff_id) where staff_id is not null;
create index one_time_link_of_user on one_time_link (user_id) where user_id is not null;
create index one_time_link_by_expiry on one_time_link (expires_at);

create unlogged table password_failure (
    id bigint generated always as identity primary key,
    account text not null,
    address text not null,
    failed_at timestamptz not null
);
comment on table password_failure is 'Unlogged: after a crash, the count starts again.';
comment on column password_failure.account is 'The address that was typed, in lower case, whether known or not.';
create index password_failure_of_account on password_failure (account, failed_at);
create index password_failure_of_address on password_failure (address, failed_at);
create index password_failure_by_age on password_failure (failed_at);
"""

KEYS = """
create table caller_idempotency_key (
    caller text not null,
    key text not null,
    fingerprint bytea not null,
    status smallint not null,
    body bytea not null,
    created_at timestamptz not null,
    primary key (caller, key)
);
comment on table caller_idempotency_key is 'As idempotency_key, for the back office. Secrets are null in the bodies.';
comment on column caller_idempotency_key.caller is 'token/ and its id.';
create index caller_idempotency_key_by_age on caller_idempotency_key (created_at);
"""


def upgrade() -> None:
    """Create the tables. Every customer gets its first owner, without a password."""
    run_sql(PEOPLE, CREDENTIALS, KEYS)
