"""What the commands `serve`, `backoffice` and `worker` share: their options, checks and announcements.

Each command has a file of its own, so that a process imports only what it serves.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from msgspec import Struct

from tradecounter.edge.command_line.logs import configure_logs
from tradecounter.edge.command_line.output import show_json
from tradecounter.edge.command_line.session import (
    database_url,
    reporting_errors,
    require_usable_schema,
    run_until_stopped,
)
from tradecounter.identity.installation_secret import with_secret
from tradecounter.installation.check_secret import require_secret
from tradecounter.installation.setting_warnings import log_setting_warnings
from tradecounter.installation.traces import start_wanted_traces
from tradecounter.kit.clock import SystemClock
from tradecounter.monitoring.listener import metrics_served
from tradecounter.monitoring.metrics import Figures
from tradecounter.settings import Settings, read_settings
from tradecounter.sites.http.server import Listener, listen, serving
from tradecounter.sites.http.site import Site, site_figures

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
        with database_url(settings, serving=True) as url:
            require_usable_schema(url)
            settings = with_secret(settings)
            require_secret(settings, url)
            log_setting_warnings(settings)
            yield settings, url, listener


def serve_site(
    kind: type[Site],
    settings: Settings,
    url: str,
    listener: Listener,
    metrics: Metrics,
    *,
    as_json: bool,
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
