"""`tradecounter serve`: the API, in one or several processes."""

from typing import Annotated

import typer

from tradecounter.cli.logs import configure_logs
from tradecounter.cli.output import AsJson
from tradecounter.cli.service import Host, Metrics, MetricsHost, MetricsPort, Port, announce, ready, serve_site
from tradecounter.cli.traces import start_wanted_traces
from tradecounter.identity.installation_secret import secret_key
from tradecounter.monitoring.shared_figures import SharedFigures, figures_folder
from tradecounter.settings import Settings
from tradecounter.web.app import Application
from tradecounter.web.server import Listener, process_application, serve_processes


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
            _serve_processes(settings, url, listener, workers, metrics, as_json=as_json)


def _serve_processes(
    settings: Settings, url: str, listener: Listener, workers: int, metrics: Metrics, *, as_json: bool
) -> None:
    factory = f"{__name__}:{application.__name__}"
    if metrics.port is None:
        announce(listener.url, {}, as_json=as_json)
        serve_processes(listener, url, secret_key(settings), workers, factory)
        return
    with figures_folder() as folder:
        figures = SharedFigures(folder)
        with metrics.served(figures.read) as addresses:
            announce(listener.url, addresses, as_json=as_json)
            serve_processes(listener, url, secret_key(settings), workers, factory, folder)


def application() -> Application:
    """Return the application of one of several API processes; called by each process."""
    configure_logs(Application.name)
    start_wanted_traces(Application.name)
    return process_application()
