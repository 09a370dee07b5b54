"""`tradecounter serve`, `tradecounter backoffice` and `tradecounter worker`."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from tradecounter.backlog.watch import Backlog
from tradecounter.cli.logs import configure_logs
from tradecounter.cli.output import AsJson, show_json
from tradecounter.cli.secret import require_secret
from tradecounter.cli.session import database_url, reporting_errors, require_usable_schema, run_until_stopped
from tradecounter.cli.setting_warnings import log_setting_warnings
from tradecounter.cli.traces import start_wanted_traces
from tradecounter.identity.installation_secret import secret_key
from tradecounter.kit.clock import SystemClock
from tradecounter.monitoring.listener import metrics_served
from tradecounter.monitoring.metrics import Figures
from tradecounter.monitoring.shared_figures import SharedFigures
from tradecounter.settings import Settings, read_settings
from tradecounter.web.app import Application
from tradecounter.web.backoffice import BackOffice
from tradecounter.web.server import Listener, listen, process_application, serve_processes, serving
from tradecounter.web.site_figures import site_figures
from tradecounter.worker import SILENT_SECONDS, run_worker

Host = Annotated[str, typer.Option(metavar="ADDRESS", help="The IP address or host name to listen on.")]
Port = Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="The port to listen on; 0 for any free port.")]
MetricsHost = Annotated[str, typer.Option(metavar="ADDRESS", help="The address for --metrics-port.")]
MetricsPort = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=65535,
        metavar="N",
        help="Serve metrics for Prometheus at /metrics on this port; 0 for any free port; without it, none are served.",
    ),
]


def serve(
    host: Host = "127.0.0.1",
    port: Port = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="The number of API processes.")] = 1,
    metrics_host: MetricsHost = "127.0.0.1",
    metrics_port: MetricsPort = None,
    as_json: AsJson = False,
) -> None:
    """Serve the API."""
    metrics = _Metrics(metrics_host, metrics_port)
    with _ready(host, port) as (settings, url, listener):
        if workers == 1:
            _serve(Application, settings, url, listener, metrics, as_json=as_json)
        else:
            _serve_processes(settings, url, listener, workers, metrics, as_json=as_json)


def backoffice(
    host: Host = "127.0.0.1",
    port: Port = 8001,
    metrics_host: MetricsHost = "127.0.0.1",
    metrics_port: MetricsPort = None,
    as_json: AsJson = False,
) -> None:
    """Serve the back office: the reseller's own API."""
    metrics = _Metrics(metrics_host, metrics_port)
    with _ready(host, port) as (settings, url, listener):
        _serve(BackOffice, settings, url, listener, metrics, as_json=as_json)


@dataclass(frozen=True, slots=True)
class _Metrics:
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
def _ready(host: str, port: int) -> Iterator[tuple[Settings, str, Listener]]:
    """Listen, and check the database and the secret key; expected errors end the command."""
    configure_logs()
    with reporting_errors():
        settings = read_settings()
        listener = listen(host, port)
        with database_url(settings, serving=True) as url:
            require_usable_schema(url)
            require_secret(settings, url)
            log_setting_warnings(settings)
            yield settings, url, listener


def _serve(
    kind: type[Application | BackOffice],
    settings: Settings,
    url: str,
    listener: Listener,
    metrics: _Metrics,
    *,
    as_json: bool,
) -> None:
    start_wanted_traces(kind.name)

    async def run(stop: asyncio.Event) -> None:
        async with serving(kind, settings, url, SystemClock(), listener) as site:
            with metrics.served(lambda: site_figures(site)) as addresses:
                _announce(listener.url, addresses, as_json=as_json)
                await stop.wait()

    run_until_stopped(run)


def _serve_processes(
    settings: Settings, url: str, listener: Listener, workers: int, metrics: _Metrics, *, as_json: bool
) -> None:
    factory = f"{__name__}:{application.__name__}"
    if metrics.port is None:
        _announce(listener.url, {}, as_json=as_json)
        serve_processes(listener, url, secret_key(settings), workers, factory)
        return
    with TemporaryDirectory(prefix="tradecounter-metrics-") as folder:
        figures = SharedFigures(Path(folder))
        with metrics.served(figures.read) as addresses:
            _announce(listener.url, addresses, as_json=as_json)
            serve_processes(listener, url, secret_key(settings), workers, factory, Path(folder))


def _announce(base_url: str, addresses: dict[str, str], *, as_json: bool) -> None:
    if as_json:
        show_json({"base_url": base_url, **addresses})
        return
    typer.echo(f"Serving {base_url} (Ctrl-C stops)", err=True)
    _announce_metrics(addresses)


def _announce_metrics(addresses: dict[str, str]) -> None:
    for address in addresses.values():
        typer.echo(f"Serving metrics at {address}", err=True)


def application() -> Application:
    """Return the application of one of several API processes; called by each process."""
    configure_logs()
    start_wanted_traces(Application.name)
    return process_application()


def worker(metrics_host: MetricsHost = "127.0.0.1", metrics_port: MetricsPort = None, as_json: AsJson = False) -> None:
    """Run background jobs until stopped."""
    configure_logs()
    metrics, backlog = _Metrics(metrics_host, metrics_port), Backlog(SILENT_SECONDS)
    with reporting_errors():
        settings = read_settings()
        with database_url(settings, serving=True) as url:
            state = require_usable_schema(url)
            require_secret(settings, url)
            log_setting_warnings(settings)

            async def run(stop: asyncio.Event) -> None:
                with metrics.served(backlog.figures) as addresses:
                    if as_json:
                        show_json({"revision": state.revision, **addresses})
                    else:
                        typer.echo("Working (Ctrl-C stops)", err=True)
                        _announce_metrics(addresses)
                    watched = backlog if addresses else None
                    await run_worker(settings, url, SystemClock(), stop, watched)

            run_until_stopped(run)
