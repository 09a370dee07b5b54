"""Bringing the schema to the newest revision."""

from collections.abc import Iterator
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

from tradecounter.db.schema_state import CONNECT_SECONDS, SchemaState, schema_state
from tradecounter.kit.errors import OperatorError

_ONE_AT_A_TIME = 7_274_301  # an advisory lock's number: two processes may be told to migrate at once


class UnknownRevisionError(OperatorError):
    """The schema is at a revision that this version of the program does not have."""


def upgrade(url: str) -> SchemaState:
    """Run the missing migrations, all or none, and return the new state.

    Raises UnknownRevisionError or psycopg.Error.
    """
    with _connection(url) as connection:
        connection.execute(text("select pg_advisory_xact_lock(:number)"), {"number": _ONE_AT_A_TIME})
        config = _config()
        _require_known(config, MigrationContext.configure(connection).get_current_revision())
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    return schema_state(url)


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
    if revision is not None and revision not in known:
        raise UnknownRevisionError(
            f"the schema is at revision {revision}, which this version does not know: install the newer version again"
        )
