"""Compares the schema with the newest revision, without Alembic and SQLAlchemy.

All services and `db check` call this module; importing these libraries would take a third of their start-up time.
"""

from dataclasses import dataclass
from pathlib import Path

import psycopg

CONNECT_SECONDS = 5

_VERSIONS = Path(__file__).parent / "migrations" / "versions"


@dataclass(frozen=True, slots=True)
class SchemaState:
    """The database's revision (None for an empty database) and the newest revision."""

    revision: str | None
    newest: str

    @property
    def current(self) -> bool:
        """Whether all migrations have been applied."""
        return self.revision == self.newest


def schema_state(url: str) -> SchemaState:
    """Return a database's schema state. Raises psycopg.Error."""
    with psycopg.connect(url, connect_timeout=CONNECT_SECONDS) as connection:
        migrated = connection.execute("select to_regclass('alembic_version') is not null").fetchone()
        row = connection.execute("select version_num from alembic_version").fetchone() if migrated == (True,) else None
    return SchemaState(None if row is None else row[0], newest_revision())


def newest_revision() -> str:
    """Return the newest revision: the number at the start of the last migration's file name."""
    return max(path.name.partition("_")[0] for path in _VERSIONS.glob("[0-9]*_*.py"))
