"""Runs commands on the configured database as the user of the system, reports expected errors, and configures logs."""

import asyncio
import logging
import os
import pwd
import re
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime
from functools import partial
from typing import Any, NoReturn, TypeVar

import psycopg
import structlog
import typer
import uvloop
from psycopg_pool import PoolTimeout
from structlog.tracebacks import ExceptionDictTransformer

from tradecounter.db.embedded import EmbeddedPostgres, kept_running
from tradecounter.db.pool import Database
from tradecounter.db.schema_state import SchemaState, schema_state, too_new
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.edge.command_line.typer_internals import get_current_context
from tradecounter.kit.actor import Actor
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.errors import DomainError, OperatorError, named_by
from tradecounter.settings import Settings, read_settings


def operator() -> Actor:
    """Return the command line's actor, named after the system user of this process."""
    user = os.geteuid()
    try:
        name = pwd.getpwuid(user).pw_name
    except KeyError:  # as in a container that runs with a number of its own
        name = f"user {user}"
    return Actor("command_line", name)


Result = TypeVar("Result")

_CONNECT_SECONDS = 5
_PLACE = re.compile(r"(?P<field>\w+)(?:\[(?P<number>\d+)\])?(?:\..*)?")
EXPECTED: tuple[type[Exception], ...] = (
    DomainError,
    OperatorError,
    psycopg.errors.UndefinedTable,
    psycopg.errors.UndefinedColumn,
    psycopg.errors.UndefinedFunction,
    psycopg.errors.InsufficientPrivilege,
    psycopg.errors.ReadOnlySqlTransaction,
    psycopg.OperationalError,
    PoolTimeout,
)


class NoDatabaseError(OperatorError):
    """The settings do not name a usable database."""


def fail(reason: str) -> NoReturn:
    """End the command with status 1 and a one-line reason on standard error."""
    typer.echo(f"error: {' '.join(reason.split())}", err=True)
    raise typer.Exit(1)


def reason_for(error: Exception) -> str:
    """Return the message for one of the EXPECTED errors."""
    match error:
        case psycopg.errors.UndefinedTable() | psycopg.errors.UndefinedColumn() | psycopg.errors.UndefinedFunction():
            return "the database's tables are not those of this version: run `tradecounter db upgrade`"
        case psycopg.errors.InsufficientPrivilege() | psycopg.errors.ReadOnlySqlTransaction():
            return f"the database does not allow this: {error.diag.message_primary}"
        case psycopg.OperationalError() | PoolTimeout():
            return f"the database cannot be reached: {error}"
        case _:
            return str(error)


def _as_typed(place: str) -> str:
    """Return the running command's name of a field: its option, with the value for an element of a list."""
    match = _PLACE.fullmatch(place)
    context = get_current_context(silent=True)
    if match is None or context is None:
        return place
    field, number = match["field"], match["number"]
    for param in context.command.params:
        option = param.opts[-1]
        if option.startswith("--") and (param.name == field or option == f"--{field}"):
            if number is None:
                return option
            values = context.params.get(field) or ()
            return f"{option} {values[int(number)]}" if int(number) < len(values) else place
    return place


@contextmanager
def reporting_errors() -> Iterator[None]:
    """End the command with a message if the block raises an expected error; it names fields by their options."""
    try:
        with named_by(_as_typed):
            yield
    except EXPECTED as error:
        fail(reason_for(error))


@contextmanager
def database_url(settings: Settings, *, create: bool = False, serving: bool = False) -> Iterator[str]:
    """Yield a reachable database's URL; an embedded database runs at least until the block ends.

    With `serving`, the embedded database is restarted if it dies. It is created only with `create`, because otherwise a
    command in the wrong folder would create an empty database there.
    """
    if settings.database_url is not None:
        try:
            psycopg.connect(settings.database_url, connect_timeout=_CONNECT_SECONDS).close()
        except psycopg.ProgrammingError:  # psycopg's message would show the password
            raise NoDatabaseError("TRADECOUNTER_DATABASE_URL: is not a valid PostgreSQL URL") from None
        yield settings.database_url
    else:
        embedded = EmbeddedPostgres(settings.data_dir)
        if not create and not embedded.has_cluster():
            raise NoDatabaseError(
                f"there is no database in {settings.data_dir.absolute()}: run this in the folder where yours is, set "
                "TRADECOUNTER_DATA_DIR or TRADECOUNTER_DATABASE_URL, or create one with `tradecounter db upgrade` or "
                "`tradecounter demo`"
            )
        if not structlog.is_configured():
            configure_logs("command")
        with embedded, kept_running(embedded) if serving else nullcontext():
            yield embedded.url()


def from_settings(make: Callable[[Settings], Result]) -> Result:
    """Return a value made from the settings; end the command if they are wrong."""
    with reporting_errors():
        return make(read_settings())
    raise AssertionError  # never reached: reporting_errors() ends the command


def run_query(query: Callable[[Transaction], Awaitable[Result]]) -> Result:
    """Run a command's queries in a read-only transaction."""

    async def work(database: Database) -> Result:
        async with reading(database) as tx:
            return await query(tx)

    return with_database(work)


def run_change(change: Callable[[Transaction, datetime], Awaitable[Result]], *, dry_run: bool = False) -> Result:
    """Run a command's changes, which take the time, in a transaction and commit it; a `dry_run` is rolled back."""

    async def work(database: Database) -> Result:
        async with transaction(database, operator()) as tx:
            result = await change(tx, SystemClock().now())
            if dry_run:
                tx.set_rollback()
            return result

    return with_database(work)


def with_database(work: Callable[[Database], Awaitable[Result]]) -> Result:
    """Run a command's work on the configured database; expected errors end the command."""

    async def run(url: str) -> Result:
        async with Database(url, connections=4) as database:
            return await work(database)

    with reporting_errors(), database_url(read_settings()) as url:
        return asyncio.run(run(url))
    raise AssertionError  # never reached: reporting_errors() ends the command


def require_usable_schema(url: str) -> SchemaState:
    """Return the schema's state; end the command if this program does not work with the schema."""
    state = schema_state(url)
    if state.usable:
        return state
    if state.newer:
        fail(too_new(state.revision))
    fail(f"the schema is at revision {state.revision or '(none)'}, not {state.newest}: run `tradecounter db upgrade`")


def run_until_stopped(main: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    """Run a service until Ctrl-C or a termination signal, which sets the service's stop event."""

    async def run() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await main(stop)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())


def configure_logs(process: str) -> None:
    """Write all logs, including those of libraries, to standard error as JSON lines.

    Each line names the process: what it does (`serve`, `worker` …) and its id.
    """
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        partial(_add_process, process),
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        # Tracebacks without local variables, which contain API keys and customers' data.
        structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False)),
    ]
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer()],
        logger_factory=lambda *_names: _Lines(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        cache_logger_on_first_use=True,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, structlog.processors.JSONRenderer()],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    # Warns at every attempt to connect; the program says once that the database is away, and when it is back.
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)


class _Lines(structlog.PrintLogger):
    """Prints lines of the log. One that cannot be printed, such as to a full disk, is lost, and the program goes on."""

    def msg(self, message: str) -> None:
        with suppress(OSError):
            super().msg(message)

    debug = info = warning = error = critical = msg


def _add_process(
    process: str, _logger: structlog.types.WrappedLogger, _method: str, event: structlog.types.EventDict
) -> structlog.types.EventDict:
    event.setdefault("process", process)
    event.setdefault("pid", os.getpid())  # at each line: API processes are forked
    return event
