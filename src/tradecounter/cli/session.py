"""What every command works with: the settings, the database that they name, and how failures end."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

import psycopg
import typer
import uvloop
from psycopg_pool import PoolTimeout

from tradecounter.db.embedded import EmbeddedError, EmbeddedPostgres
from tradecounter.db.import_files import UnreadableFileError
from tradecounter.db.migrate import schema_state
from tradecounter.db.pool import Database
from tradecounter.demo.load import DemoDataError
from tradecounter.kit.errors import DomainError
from tradecounter.settings import Settings, SettingsError, read_settings
from tradecounter.web.server import AddressTakenError, StartFailedError

Result = TypeVar("Result")

_REFUSALS = (
    DomainError,
    DemoDataError,
    SettingsError,
    EmbeddedError,
    UnreadableFileError,
    AddressTakenError,
    StartFailedError,
)


def refuse(reason: str) -> NoReturn:
    """End the command with status 1 and a reason on standard error."""
    typer.echo(f"error: {reason}", err=True)
    raise typer.Exit(1)


@contextmanager
def refusing() -> Iterator[None]:
    """Turn expected failures into a refusal."""
    try:
        yield
    except _REFUSALS as error:
        refuse(str(error))
    except psycopg.errors.UndefinedTable:
        refuse("the database has no tables yet: run `tradecounter db upgrade`")
    except (psycopg.OperationalError, PoolTimeout) as error:
        refuse(f"the database cannot be reached: {str(error).strip().splitlines()[0]}")


@contextmanager
def database_url(settings: Settings) -> Iterator[str]:
    """Give the database's URL; the embedded one runs at least as long as the block."""
    if settings.database_url is not None:
        yield settings.database_url
    else:
        with EmbeddedPostgres(settings.data_dir) as embedded:
            yield embedded.url()


def with_database(work: Callable[[Database], Awaitable[Result]]) -> Result:
    """Run a command's work on the database that the settings name; refuse what fails as expected."""

    async def run(url: str) -> Result:
        async with Database(url, connections=4) as database:
            return await work(database)

    with refusing(), database_url(read_settings()) as url:
        return asyncio.run(run(url))
    raise AssertionError  # refusing() lets no failure through


def run_until_stopped(main: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    """Run a service; Ctrl-C or a termination signal sets the event that it waits for."""

    async def run() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await main(stop)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())


def require_current_schema(url: str) -> None:
    """Refuse to go on with a database that is not migrated."""
    state = schema_state(url)
    if not state.current:
        found = state.revision or "(none)"
        refuse(f"the schema is at revision {found}, not {state.newest}: run `tradecounter db upgrade`")
