"""Bringing the schema to the newest revision, and telling whether it is there."""

from dataclasses import dataclass
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import NullPool

_ONE_AT_A_TIME = 7_274_301  # an advisory lock's number: two processes may be told to migrate at once


@dataclass(frozen=True, slots=True)
class SchemaState:
    """The revision the database is at (None when empty) and the one it should be at."""

    revision: str | None
    newest: str

    @property
    def current(self) -> bool:
        """Whether nothing is left to migrate."""
        return self.revision == self.newest


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    return config


def _state(connection: Connection) -> SchemaState:
    newest = ScriptDirectory.from_config(_config()).get_current_head()
    if newest is None:
        raise RuntimeError("the package holds no migrations")
    return SchemaState(MigrationContext.configure(connection).get_current_revision(), newest)


def schema_state(url: str) -> SchemaState:
    """Return where the database's schema is. `url` is a postgresql:// URL."""
    engine = create_engine(_sqlalchemy_url(url), poolclass=NullPool)
    with engine.connect() as connection:
        return _state(connection)


def upgrade(url: str) -> SchemaState:
    """Run the missing migrations, all or none, and return the new state."""
    engine = create_engine(_sqlalchemy_url(url), poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text("select pg_advisory_xact_lock(:number)"), {"number": _ONE_AT_A_TIME})
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        return _state(connection)


def _sqlalchemy_url(url: str) -> str:
    _, _, rest = url.partition("://")
    return f"postgresql+psycopg://{rest}"
