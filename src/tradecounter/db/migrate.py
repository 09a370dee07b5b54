"""Migrates the schema to the newest revision."""

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from tradecounter.db.advisory_locks import MIGRATE
from tradecounter.db.schema_state import CONNECT_SECONDS, OLDEST_PROGRAM, SchemaState, schema_state, too_new
from tradecounter.kit.errors import OperatorError

# A migration that waits for a table lock blocks all requests for the table, so its lock timeout is shorter than theirs.
# It is also much shorter than the second after which PostgreSQL looks for deadlocks: in one, the migration gives way.
_LOCK_TIMEOUT = "100ms"
_ATTEMPTS = 30
_LONGEST_PAUSE_SECONDS = 8
_IN_THE_WAY = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)


class TablesInUseError(OperatorError):
    """Other transactions lock tables that the migrations change."""


def upgrade(url: str, *, revision: str = "head", report: Callable[[str], None] = lambda _: None) -> SchemaState:
    """Run the missing migrations up to a revision, all or none; return the new state.

    A newer schema that this program works with stays as it is. If another transaction has locked a table that the
    migrations change, they roll back and run again after a pause, so that requests do not wait; `report` receives a
    line per retry. Raises OperatorError (unknown revision), TablesInUseError or psycopg.Error.
    """
    state = schema_state(url)
    if state.newer and state.usable:
        return state
    for attempt in itertools.count(1):
        try:
            _migrate(url, revision)
            break
        except _IN_THE_WAY as error:
            if attempt == _ATTEMPTS:
                raise TablesInUseError(
                    "the schema was not changed: other transactions use tables that have to change; end them, such as "
                    "a backup or an import, and try again"
                ) from error
        pause = min(2 ** (attempt - 1), _LONGEST_PAUSE_SECONDS)
        report(
            f"another transaction uses a table that has to change; trying again in {pause} s ({attempt} of {_ATTEMPTS})"
        )
        time.sleep(pause)
    return schema_state(url)


def _migrate(url: str, revision: str) -> None:
    with _connection(url) as connection:
        connection.execute(text(MIGRATE))  # two processes may migrate at the same time
        connection.execute(text(f"set local lock_timeout = '{_LOCK_TIMEOUT}'"))
        config = _config()
        _require_known(config, MigrationContext.configure(connection).get_current_revision())
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        _note_oldest_program(connection, config)


def _note_oldest_program(connection: Connection, config: Config) -> None:
    """Write down which programs work with the schema; a migration that does not say so needs its own program."""
    revision = MigrationContext.configure(connection).get_current_revision()
    scripts = ScriptDirectory.from_config(config).iterate_revisions(revision or "base", "base")
    oldest = max((getattr(s.module, "works_from", s.revision) for s in scripts), default=None)
    if oldest is not None:
        connection.execute(text(f"comment on table alembic_version is '{OLDEST_PROGRAM.format(oldest)}'"))


@contextmanager
def _connection(url: str) -> Iterator[Connection]:
    engine = create_engine(
        "postgresql+psycopg://",
        creator=lambda: psycopg.connect(url, connect_timeout=CONNECT_SECONDS),
        poolclass=NullPool,
    )
    try:
        with engine.begin() as connection:
            yield connection
    except DBAPIError as error:
        if isinstance(error.orig, psycopg.Error):
            raise error.orig from error
        raise


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    return config


def _require_known(config: Config, revision: str | None) -> None:
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if revision is None or revision in known:
        return
    if revision < min(known):
        raise OperatorError(
            f"the schema is at revision {revision}, of a version before the first release: bring it to {min(known)} "
            "with the last commit before that (docs/operators/upgrade.md)"
        )
    raise OperatorError(too_new(revision))
