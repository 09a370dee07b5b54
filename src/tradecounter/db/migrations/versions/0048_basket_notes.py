"""Notes on the lines of baskets."""

from tradecounter.db.migrations.sql import run_sql

revision = "0048"
down_revision = "0047"
works_from = "0047"

_NOTES = """
    alter table basket_line add column note text not null default '';
    comment on column basket_line.note is 'What the user notes about the line; the order gets it as a note.';
"""


def upgrade() -> None:
    """Add the column."""
    run_sql(_NOTES)
