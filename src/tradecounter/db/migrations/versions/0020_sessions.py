"""Sessions of staff members and customers' users."""

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
"""


def upgrade() -> None:
    """Create the table."""
    run_sql(SESSIONS)
