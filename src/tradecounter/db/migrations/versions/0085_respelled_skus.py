"""The former spelling of a product's SKU, for copies of the catalogue that are kept by SKU (docs/adr/0038)."""

from tradecounter.db.migrations.sql import run_sql

revision = "0085"
down_revision = "0070"
works_from = "0051"

_COLUMN = """
    alter table catalogue_change add column former_skus jsonb;
    comment on column catalogue_change.former_skus is
        'The former SKU of each product whose SKU is spelled differently now, by id.';
"""


def upgrade() -> None:
    """Add the column. The next revision has the trigger's function, which fills it."""
    run_sql(_COLUMN)
