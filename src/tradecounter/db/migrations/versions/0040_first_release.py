"""All tables of the first release, and the rows that they begin with."""

from importlib.resources import files

from procrastinate.schema import SchemaManager

from tradecounter.db.migrations.sql import run_sql

revision = "0040"  # earlier ones, of versions that were never released, end at this schema
down_revision = None


def upgrade() -> None:
    """Create the queue's tables, then ours."""
    tables = files("tradecounter.db.migrations").joinpath("first_release.sql").read_bytes()
    run_sql(SchemaManager.get_schema(), tables)
