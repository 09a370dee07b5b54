"""`tradecounter serve`: the API, in one or several processes."""

from typing import Annotated

import structlog
import typer

from tradecounter.db.embedded import EmbeddedPostgres
from tradecounter.edge.command_line.output import AsJson
from tradecounter.edge.command_line.session import configure_logs
from tradecounter.identity.installation_secret import with_secret
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.errors import OperatorError
from tradecounter.monitoring.metrics import SharedFigures, figures_folder
from tradecounter.settings import read_settings
from tradecounter.sites.commands.service import (
    Host,
    Metrics,
    MetricsHost,
    MetricsPort,
    Port,
    announce,
    ready,
    require_secret,
    serve_site,
    start_wanted_traces,
)
from tradecounter.sites.http.server import Listener, database_for_requests, serve_processes
from tradecounter.sites.public import Application

log = structlog.get_logger()


def serve(
    host: Host = "127.0.0.1",
    port: Port = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="The number of API processes.")] = 1,
    metrics_host: MetricsHost = "127.0.0.1",
    metrics_port: MetricsPort = None,
    as_json: AsJson = False,
) -> None:
    """Serve the API."""
    metrics = Metrics(metrics_host, metrics_port)
    with ready(Application, host, port) as (settings, url, listener):
        if workers == 1:
            serve_site(Application, settings, url, listener, metrics, as_json=as_json)
        else:
            _serve_processes(listener, workers, metrics, as_json=as_json)


def _serve_processes(listener: Listener, workers: int, metrics: Metrics, *, as_json: bool) -> None:
    factory = f"{__name__}:{application.__name__}"
    if metrics.port is None:
        announce(listener.url, {}, as_json=as_json)
        serve_processes(listener, workers, factory)
        return
    with figures_folder() as folder:
        figures = SharedFigures(folder)
        with metrics.served(figures.read) as addresses:
            announce(listener.url, addresses, as_json=as_json)
            serve_processes(listener, workers, factory, folder)


def application() -> Application:
    """Return the application of one of several API processes; called by each process, which reads the settings again.

    A process with a wrong secret key does not start, and the supervisor keeps the one that it would replace.
    """
    configure_logs(Application.name)
    start_wanted_traces(Application.name)
    try:
        settings = with_secret(read_settings())
        url = settings.database_url or EmbeddedPostgres(settings.data_dir).url()
        require_secret(settings, url)
    except OperatorError as error:
        log.critical("an API process cannot start", reason=str(error))
        raise SystemExit(1) from None
    return Application(settings, database_for_requests(settings, url), SystemClock(), alone=True)
