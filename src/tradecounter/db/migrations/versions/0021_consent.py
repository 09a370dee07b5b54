"""The own issuer of consent: its keys, customers' consent to applications, and what was granted under it."""

from tradecounter.db.migrations.sql import run_sql

revision = "0021"
down_revision = "0020"

APPLICATIONS = """
alter table application add column redirect_uris text[] not null default '{}';
comment on column application.redirect_uris is
    'Where the own issuer may send a browser back to, exactly as written; empty: it serves another issuer only.';
"""

KEYS = """
create table issuer_key (
    kid text primary key,
    public_key text not null,
    private_key bytea not null,
    created_at timestamptz not null,
    retired_at timestamptz
);
comment on table issuer_key is 'The keys that sign consent.';
comment on column issuer_key.public_key is 'A JSON Web Key.';
comment on column issuer_key.private_key is 'A JSON Web Key, encrypted.';
comment on column issuer_key.retired_at is 'Null: it signs. A retired key stays public while tokens of it are valid.';
create unique index issuer_key_that_signs on issuer_key ((true)) where retired_at is null;
"""

CONSENT = """
create table consent (
    id bigint generated always as identity primary key,
    client_id text not null references application (client_id),
    customer_id bigint not null references customer (id),
    user_id bigint references customer_user (id) on delete set null,
    given_at timestamptz not null,
    revoked_at timestamptz
);
comment on table consent is 'That an application may act for a customer; it stands until it is revoked.';
comment on column consent.user_id is 'Who gave it.';
create unique index consent_that_stands on consent (client_id, customer_id) where revoked_at is null;
create index consent_of_customer on consent (customer_id);
create index consent_of_user on consent (user_id) where user_id is not null;

create table consent_grant (
    id bigint generated always as identity primary key,
    consent_id bigint not null references consent (id) on delete cascade,
    code_hash bytea not null unique,
    code_challenge text not null,
    redirect_uri text not null,
    created_at timestamptz not null,
    code_expires_at timestamptz not null,
    code_used_at timestamptz,
    ended_at timestamptz
);
comment on table consent_grant is 'One authorisation code, and with its refresh tokens all that it gave.';
create index consent_grant_of_consent on consent_grant (consent_id);
create index consent_grant_unused on consent_grant (code_expires_at) where code_used_at is null;
create index consent_grant_ended on consent_grant (ended_at) where ended_at is not null;

create table refresh_token (
    hash bytea primary key,
    grant_id bigint not null references consent_grant (id) on delete cascade,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    used_at timestamptz
);
comment on table refresh_token is 'A used one is kept until it expires: when it comes again, its grant ends.';
create index refresh_token_of_grant on refresh_token (grant_id);
create index refresh_token_expiry on refresh_token (expires_at);

alter table access_token add column grant_id bigint;
comment on column access_token.grant_id is
    'The grant of the own issuer that it comes from. Not a foreign key, which would lock grants before applications.';
create index access_token_of_grant on access_token (grant_id) where grant_id is not null;
"""


def upgrade() -> None:
    """Create the tables."""
    run_sql(APPLICATIONS, KEYS, CONSENT)
