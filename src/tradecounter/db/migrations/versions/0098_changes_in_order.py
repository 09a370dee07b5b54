"""The changes of an import in the order of its file, so that a page of them reads no others."""

from tradecounter.db.migrations.sql import run_sql

revision = "0098"
down_revision = "0097"
works_from = "0051"

# Records of one line are few. Their keys may be too long for an index.
_IN_ORDER = """
    drop index import_change_of_import;
    create index import_change_of_import on import_change (import_id, coalesce(line, 2147483647));
"""


def upgrade() -> None:
    """Replace the index of imports' changes."""
    run_sql(_IN_ORDER)
