"""Telling whether the schema is at the newest revision, without the libraries that bring it there.

Every service and `db check` ask; importing Alembic and SQLAlchemy would be a third of their start.
"""

from dataclasses import dataclass
from pathlib import Path

import psycopg

CONNECT_SECONDS = 5

_VERSIONS = Path(__file__).parent / "migrations" / "versions"


@dataclass(frozen=True, slots=True)
class SchemaState:
    """The revision the database is at (None when empty) and the one it should be at."""

    revision: str | None
    newest: str

    @property
    def current(self) -> bool:
        """Whether nothing is left to migrate."""
        return self.revision == self.newest


def schema_state(url: str) -> SchemaState:
    """Return where the database's schema is. `url` is whatever libpq takes. Raises psycopg.Error."""
    with psycopg.connect(url, connect_timeout=CONNECT_SECONDS) as connection:
        migrated = connection.execute("select to_regclass('alembic_version') is not null").fetchone()
        row = connection.execute("select version_num from alembic_version").fetchone() if migrated == (True,) else None
    return SchemaState(None if row is None else row[0], newest_revision())


def newest_revision() -> str:
    """Return the newest revision: the number with which its file's name starts."""
    return max(path.name.partition("_")[0] for path in _VERSIONS.glob("[0-9]*_*.py"))
