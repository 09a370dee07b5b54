"""Compares the schema with the newest revision, without Alembic and SQLAlchemy.

All services and `db check` call this module; importing these libraries would take a third of their start-up time.
"""

import re
from pathlib import Path

import psycopg
from msgspec import Struct

CONNECT_SECONDS = 5

# In the comment on Alembic's table, which any program can read, whatever the schema is like (docs/adr/0027).
OLDEST_PROGRAM = "Programs from revision {} on work with this schema."
_OLDEST_PROGRAM = re.compile(re.escape(OLDEST_PROGRAM).replace(r"\{\}", "([0-9]+)"))

_STATE = "select version_num, obj_description('alembic_version'::regclass, 'pg_class') from alembic_version"

_VERSIONS = Path(__file__).parent / "migrations" / "versions"


class SchemaState(Struct, frozen=True):
    """The database's revision (None for an empty database) and the newest revision of this program.

    `oldest_program` is the newest revision of the oldest program that works with the schema; None if unknown.
    """

    revision: str | None
    newest: str
    oldest_program: str | None = None

    @property
    def current(self) -> bool:
        """Whether all migrations have been applied."""
        return self.revision == self.newest

    @property
    def newer(self) -> bool:
        """Whether a newer program has migrated the schema."""
        return self.revision is not None and self.revision > self.newest

    @property
    def usable(self) -> bool:
        """Whether this program works with the schema: it is current, or newer and only expanded."""
        return self.current or (self.newer and self.oldest_program is not None and self.oldest_program <= self.newest)


def schema_state(url: str) -> SchemaState:
    """Return a database's schema state. Raises psycopg.Error."""
    with psycopg.connect(url, connect_timeout=CONNECT_SECONDS) as connection:
        migrated = connection.execute("select to_regclass('alembic_version') is not null").fetchone()
        row = connection.execute(_STATE).fetchone() if migrated == (True,) else None
    revision, comment = row or (None, None)
    oldest = _OLDEST_PROGRAM.fullmatch(comment or "")
    return SchemaState(revision, newest_revision(), oldest and oldest[1])


def too_new(revision: str | None) -> str:
    """Return the error for a revision that this program does not work with."""
    return (
        f"the schema is at revision {revision}, with which this version does not work: install the newer version again"
    )


def newest_revision() -> str:
    """Return the newest revision: the number at the start of the last migration's file name."""
    return max(path.name.partition("_")[0] for path in _VERSIONS.glob("[0-9]*_*.py"))
