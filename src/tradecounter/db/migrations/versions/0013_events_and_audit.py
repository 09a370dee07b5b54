"""The event log, which a sequencer numbers, and the audit log, which only grows."""

from tradecounter.db.migrations.sql import run_sql

revision = "0013"
down_revision = "0012"

EVENTS = """
create table unnumbered_event (
    position bigint generated always as identity primary key,
    id text not null,
    type text not null,
    occurred_at timestamptz not null,
    subject text not null,
    customer_id bigint,
    for_customer boolean not null,
    data jsonb not null
);
comment on table unnumbered_event is 'Events of committed transactions that are not in the log yet.';
comment on column unnumbered_event.position is
    'Drawn after the lock on the subject is taken, so the events of a subject are in their order.';

create table event (
    sequence bigint primary key,
    id text not null unique,
    type text not null,
    occurred_at timestamptz not null,
    subject text not null,
    customer_id bigint,
    for_customer boolean not null,
    data jsonb not null
);
comment on table event is 'The event log. Sequences are contiguous from 1.';
comment on column event.for_customer is 'Whether the customer may read the event; otherwise only the reseller may.';
create index event_of_customer on event (customer_id, sequence) where for_customer;
create index event_of_subject on event (subject, sequence);

create table event_sequence (
    the_one boolean primary key default true check (the_one),
    last bigint not null
);
comment on table event_sequence is 'One row: the last sequence in the log.';
insert into event_sequence (last) values (0);
"""

AUDIT = """
create table audit_entry (
    id bigint generated always as identity primary key,
    at timestamptz not null,
    actor_kind text not null
        check (actor_kind in ('staff', 'token', 'user', 'key', 'command_line', 'system')),
    actor_id text,
    actor_name text not null,
    acting_user text,
    address text,
    action text not null,
    subject text not null,
    before jsonb not null,
    after jsonb not null
);
comment on table audit_entry is 'Who changed what. Entries are never changed or deleted.';
create index audit_entry_of_subject on audit_entry (subject, id);
create index audit_entry_of_actor on audit_entry (actor_kind, actor_id, id);
create index audit_entry_by_time on audit_entry (at, id);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
    raise exception 'the audit log only grows';
end
$$;
create trigger audit_entry_never_changes before update or delete on audit_entry
    for each row execute function refuse_audit_change();
create trigger audit_log_is_never_emptied before truncate on audit_entry
    for each statement execute function refuse_audit_change();
revoke update, delete, truncate on audit_entry from public, current_user;
"""


def upgrade() -> None:
    """Create the tables of both logs."""
    run_sql(EVENTS, AUDIT)
