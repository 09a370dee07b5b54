"""Lists with their filters, which staff keep under names."""

from tradecounter.db.migrations.sql import run_sql

revision = "0045"
down_revision = "0044"
works_from = "0044"

_VIEWS = """
    create table saved_view (
        id bigint generated always as identity primary key,
        staff_id bigint not null references staff_member on delete cascade,
        name text not null,
        path text not null,
        query text not null,
        shared boolean not null,
        on_today boolean not null,
        created_at timestamptz not null
    );
    comment on column saved_view.shared is 'Whether all staff see it who may open the list.';
    create index saved_view_of_member on saved_view (staff_id);
"""


def upgrade() -> None:
    """Create the table."""
    run_sql(_VIEWS)
