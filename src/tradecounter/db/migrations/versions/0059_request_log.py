"""The requests of customers' programs in the last seven days."""

from tradecounter.db.migrations.sql import run_sql

revision = "0059"
down_revision = "0058"
works_from = "0051"

_LOG = """
    create table request_log (
        id bigint generated always as identity primary key,
        customer_id bigint not null references customer,
        caller text not null,
        at timestamptz not null,
        method text not null,
        path text not null,
        status integer not null default 0,
        code text not null default '',
        milliseconds integer,
        request_id text,
        bytes bigint,
        count bigint
    );
    create index request_log_of_caller on request_log (customer_id, caller, id desc);
    create index request_log_at on request_log (at);
    create unique index request_log_counted on request_log (customer_id, caller, at, method, path, status, code)
        where count is not null;
    comment on table request_log is 'Requests of keys and applications in the last seven days.';
    comment on column request_log.caller is 'key/ID, or application/CLIENT_ID.';
    comment on column request_log.path is 'Without the query; of counted requests, the path of the operation.';
    comment on column request_log.count is 'How many requests of the minute the row stands for; null: one.';
"""


def upgrade() -> None:
    """Create the table."""
    run_sql(_LOG)
