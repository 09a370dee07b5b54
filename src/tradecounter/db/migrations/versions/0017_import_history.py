"""The history of imports: their counts, and each changed record before and after."""

from tradecounter.db.migrations.sql import run_sql

revision = "0017"
down_revision = "0016"

HISTORY = """
create table import_run (
    id bigint generated always as identity primary key,
    kind text not null,
    at timestamptz not null,
    made_by text not null,
    added integer not null default 0,
    changed integer not null default 0,
    unchanged integer not null default 0,
    deactivated integer not null default 0,
    rolled_back_at timestamptz
);
comment on table import_run is 'Every import, and whether it was rolled back.';

create table import_change (
    import_id bigint not null,
    line integer,
    key text not null,
    record text not null,
    before jsonb,
    after jsonb
);
comment on table import_change is 'The records that recent imports changed. Roll-backs restore `before`.';
comment on column import_change.import_id is
    'An import_run. Without a foreign key, whose check of each row would take a second in large imports.';
comment on column import_change.line is 'The line of the file; null for a record that the file lacks.';
comment on column import_change.key is 'The key of the record in the view of its kind.';
comment on column import_change.record is 'The record''s key for people.';
comment on column import_change.before is 'The changed fields before the import; null for a new record.';
comment on column import_change.after is 'The changed fields after the import; null for a deleted record.';
create index import_change_of_import on import_change (import_id);
"""


def upgrade() -> None:
    """Create both tables."""
    run_sql(HISTORY)
