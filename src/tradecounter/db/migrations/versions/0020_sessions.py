"""Sessions of staff members and customers' users, their second factors and browsers, and forgotten passwords."""

from tradecounter.db.migrations.sql import run_sql

revision = "0020"
down_revision = "0019"

SESSIONS = """
create table session (
    id bigint generated always as identity primary key,
    hash bytea not null unique,
    staff_id bigint references staff_member on delete cascade,
    user_id bigint references customer_user on delete cascade,
    needs_second_factor boolean not null,
    created_at timestamptz not null,
    seen_at timestamptz not null,
    proven_at timestamptz not null,
    address text not null,
    browser text not null,
    ended_at timestamptz,
    check (num_nonnulls(staff_id, user_id) = 1)
);
comment on column session.hash is 'SHA-256 of the value in the cookie.';
comment on column session.needs_second_factor is
    'Only the password is checked so far. The next step makes a new session.';
comment on column session.seen_at is 'The last request, exact to a minute.';
comment on column session.proven_at is 'When the password or a code was last asked for.';
comment on column session.browser is 'The User-Agent header.';
create index session_of_staff on session (staff_id) where staff_id is not null;
create index session_of_user on session (user_id) where user_id is not null;
create index session_by_age on session (seen_at);

create table known_browser (
    id bigint generated always as identity primary key,
    hash bytea not null,
    staff_id bigint references staff_member on delete cascade,
    user_id bigint references customer_user on delete cascade,
    seen_at timestamptz not null,
    check (num_nonnulls(staff_id, user_id) = 1)
);
comment on table known_browser is 'Browsers in which a person has signed in. A sign-in in another one sends an e-mail.';
comment on column known_browser.hash is 'SHA-256 of the value in a cookie of its own.';
create unique index known_browser_of_staff on known_browser (staff_id, hash) where staff_id is not null;
create unique index known_browser_of_user on known_browser (user_id, hash) where user_id is not null;
create index known_browser_by_age on known_browser (seen_at);
"""

SECOND_FACTORS = """
create table second_factor (
    id bigint generated always as identity primary key,
    staff_id bigint references staff_member on delete cascade,
    user_id bigint references customer_user on delete cascade,
    session_id bigint references session on delete set null,
    secret bytea not null,
    last_step bigint not null default 0,
    created_at timestamptz not null,
    confirmed_at timestamptz,
    check (num_nonnulls(staff_id, user_id) = 1)
);
comment on table second_factor is 'Time-based one-time passwords (RFC 6238).';
comment on column second_factor.session_id is
    'Where it was begun: no other session shows the secret or confirms it, so that a person never confirms the secret '
    'of a stranger who knows the password.';
comment on column second_factor.secret is 'Encrypted.';
comment on column second_factor.last_step is 'The step of the last good code: codes of later steps only are good.';
comment on column second_factor.confirmed_at is
    'Null until the first code; a person''s former one stays until then.';
create unique index second_factor_of_staff on second_factor (staff_id, (confirmed_at is null))
    where staff_id is not null;
create unique index second_factor_of_user on second_factor (user_id, (confirmed_at is null))
    where user_id is not null;

create index second_factor_of_session on second_factor (session_id);

create table recovery_code (
    hash bytea primary key,
    second_factor_id bigint not null references second_factor on delete cascade,
    used_at timestamptz
);
comment on column recovery_code.hash is 'SHA-256 of a code of 128 random bits.';
create index recovery_code_of_factor on recovery_code (second_factor_id);

alter table staff_member drop column totp_secret;
alter table customer_user drop column totp_secret;
"""

FORGOTTEN = """
create table forgotten_password (
    id bigint generated always as identity primary key,
    site text not null check (site in ('staff', 'account')),
    email text not null,
    created_at timestamptz not null
);
comment on table forgotten_password is
    'What was typed, known or not: the worker looks it up, so that a response tells nothing, not even by its time.';
create index forgotten_password_by_age on forgotten_password (created_at);
"""


def upgrade() -> None:
    """Create the tables. The columns for second factors were never used."""
    run_sql(SESSIONS, SECOND_FACTORS, FORGOTTEN)
