"""What the commands `serve`, `backoffice` and `worker` share: their options, checks, traces and announcements."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated

import structlog
import typer
from msgspec import Struct

from tradecounter.db.installation import is_sandbox
from tradecounter.db.pool import Database
from tradecounter.db.schema_state import SchemaState
from tradecounter.db.transaction import transaction
from tradecounter.edge.command_line.output import show_json
from tradecounter.edge.command_line.session import (
    configure_logs,
    database_url,
    operator,
    reporting_errors,
    require_usable_schema,
    run_until_stopped,
)
from tradecounter.identity.installation_secret import secret_keys, with_secret
from tradecounter.installation.setting_warnings import log_setting_warnings
from tradecounter.kit.clock import SystemClock
from tradecounter.monitoring.listener import metrics_served
from tradecounter.monitoring.metrics import Figures
from tradecounter.settings import PREFIX, Settings, SettingsError, read_settings, traces_exporter
from tradecounter.shipments.secret_keys import register_secret
from tradecounter.sites.http.server import Listener, listen, serving
from tradecounter.sites.http.site import Site, site_figures

_AMISS = {
    True: f"{PREFIX}SANDBOX: the database is no sandbox's: `tradecounter sandbox refresh` makes an empty one that",
    False: f"{PREFIX}SANDBOX: the database is a sandbox's, so it must be true",
}


def require_secret(settings: Settings, url: str) -> None:
    """Register the secret key in the database. Raises SettingsError or WrongSecretError.

    The database must be a sandbox's if, and only if, the settings say so.
    """

    async def work() -> None:
        async with Database(url, connections=1) as database, transaction(database, operator()) as tx:
            if await is_sandbox(tx) != settings.sandbox:
                raise SettingsError(_AMISS[settings.sandbox])
            await register_secret(tx, secret_keys(settings), SystemClock().now())

    asyncio.run(work())


log = structlog.get_logger()


def start_wanted_traces(site: str) -> None:
    """Record traces of a process that serves `site`, if they are configured; without the extra, warn.

    The library is imported only then: it takes as long as the rest of the program. Raises OperatorError.
    """
    exporter = traces_exporter()
    if exporter is None:
        return
    try:
        traces = import_module("tradecounter.monitoring.traces")
    except ModuleNotFoundError as error:
        log.warning(
            "traces are configured but cannot be sent: install tradecounter[tracing], or unset the OTEL_ variables",
            missing=error.name,
        )
        return
    traces.start_traces(site, exporter)


def _host(text: str) -> str:
    """Return an IP address or a host name. Raises BadParameter."""
    try:
        text.encode("idna")
    except UnicodeError as error:
        raise typer.BadParameter(f"{text!r} is neither an address nor a host name") from error
    return text


Host = Annotated[str, typer.Option(parser=_host, metavar="ADDRESS", help="The IP address or host name to listen on.")]
Port = Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="The port to listen on; 0 for any free port.")]
MetricsHost = Annotated[str, typer.Option(parser=_host, metavar="ADDRESS", help="The address for --metrics-port.")]
MetricsPort = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=65535,
        metavar="N",
        help="Serve metrics for Prometheus at /metrics on this port; 0 for any free port; without it, none are served.",
    ),
]


class Metrics(Struct, frozen=True):
    """Where metrics are served; nowhere without a port."""

    host: str
    port: int | None

    @contextmanager
    def served(self, read: Callable[[], Figures]) -> Iterator[dict[str, str]]:
        """Serve what `read` returns while the block runs; yield the URL to announce, if there is one."""
        if self.port is None:
            yield {}
            return
        with metrics_served(self.host, self.port, read) as url:
            yield {"metrics_url": url}


@contextmanager
def ready(kind: type[Site], host: str, port: int) -> Iterator[tuple[Settings, str, Listener]]:
    """Listen, and check the database and the secret key; expected errors end the command."""
    configure_logs(kind.name)
    with reporting_errors():
        settings = read_settings()
        listener = listen(host, port)
        with checked_database(settings) as (settings, url, _):
            yield settings, url, listener


@contextmanager
def checked_database(settings: Settings) -> Iterator[tuple[Settings, str, SchemaState]]:
    """Check the database, the secret key and the settings; yield the settings with that key, the URL and the schema."""
    with database_url(settings, serving=True) as url:
        state = require_usable_schema(url)
        settings = with_secret(settings)
        require_secret(settings, url)
        log_setting_warnings(settings)
        yield settings, url, state


def serve_site(
    kind: type[Site], settings: Settings, url: str, listener: Listener, metrics: Metrics, *, as_json: bool
) -> None:
    """Serve a site from this process until it is stopped."""
    start_wanted_traces(kind.name)

    async def run(stop: asyncio.Event) -> None:
        async with serving(kind, settings, url, SystemClock(), listener) as site:
            with metrics.served(lambda: site_figures(site)) as addresses:
                announce(listener.url, addresses, as_json=as_json)
                await stop.wait()

    run_until_stopped(run)


def announce(base_url: str, addresses: dict[str, str], *, as_json: bool) -> None:
    """Say that requests are served, and where metrics are."""
    if as_json:
        show_json({"base_url": base_url, **addresses})
        return
    typer.echo(f"Serving {base_url} (Ctrl-C stops)", err=True)
    announce_metrics(addresses)


def announce_metrics(addresses: dict[str, str]) -> None:
    """Say where metrics are served."""
    for address in addresses.values():
        typer.echo(f"Serving metrics at {address}", err=True)
