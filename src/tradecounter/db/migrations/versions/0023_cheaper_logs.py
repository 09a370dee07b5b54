"""Fewer indexes on both logs, since every change writes to them and no query needs the dropped ones.

The index of events by id was the most expensive: ids are random, so every event wrote to another page of it. The
sequencer moves an event once, so ids stay unique without it. Times grow with the audit log, so a small index of
ranges finds them.
"""

from tradecounter.db.migrations.sql import run_sql

revision = "0023"
down_revision = "0022"

EVENTS = """
drop index event_of_subject;
alter table event drop constraint event_id_key;
comment on column event.id is 'Unique, since it has 96 random bits.';
alter table unnumbered_event set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
"""

AUDIT = """
drop index audit_entry_of_actor;
drop index audit_entry_by_time;
create index audit_entry_by_time on audit_entry using brin (at) with (pages_per_range = 32, autosummarize = on);
"""


def upgrade() -> None:
    """Drop the indexes."""
    run_sql(EVENTS, AUDIT)
