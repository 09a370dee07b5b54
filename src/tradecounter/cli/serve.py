"""`tradecounter serve`, `tradecounter backoffice` and `tradecounter worker`."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from tradecounter.cli.logs import configure_logs
from tradecounter.cli.output import AsJson, show_json
from tradecounter.cli.secret import require_secret
from tradecounter.cli.session import database_url, reporting_errors, require_current_schema, run_until_stopped
from tradecounter.cli.setting_warnings import log_setting_warnings
from tradecounter.identity.installation_secret import secret_key
from tradecounter.kit.clock import SystemClock
from tradecounter.settings import Settings, read_settings
from tradecounter.web.app import Application
from tradecounter.web.backoffice import BackOffice
from tradecounter.web.server import Listener, listen, process_application, serve_processes, serving
from tradecounter.web.site import Site
from tradecounter.worker import run_worker

Host = Annotated[str, typer.Option(metavar="ADDRESS", help="The IP address or host name to listen on.")]
Port = Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="The port to listen on; 0 for any free port.")]


def serve(
    host: Host = "127.0.0.1",
    port: Port = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="The number of API processes.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Serve the API."""
    with _ready(host, port) as (settings, url, listener):
        if workers == 1:
            _serve(Application, settings, url, listener, as_json=as_json)
        else:
            _announce(listener.url, as_json=as_json)
            serve_processes(listener, url, secret_key(settings), workers, f"{__name__}:{application.__name__}")


def backoffice(host: Host = "127.0.0.1", port: Port = 8001, as_json: AsJson = False) -> None:
    """Serve the back office: the reseller's own API."""
    with _ready(host, port) as (settings, url, listener):
        _serve(BackOffice, settings, url, listener, as_json=as_json)


@contextmanager
def _ready(host: str, port: int) -> Iterator[tuple[Settings, str, Listener]]:
    """Listen, and check the database and the secret key; expected errors end the command."""
    configure_logs()
    with reporting_errors():
        settings = read_settings()
        listener = listen(host, port)
        with database_url(settings, serving=True) as url:
            require_current_schema(url)
            require_secret(settings, url)
            log_setting_warnings(settings)
            yield settings, url, listener


def _serve(kind: Callable[..., Site], settings: Settings, url: str, listener: Listener, *, as_json: bool) -> None:
    async def run(stop: asyncio.Event) -> None:
        async with serving(kind, settings, url, SystemClock(), listener):
            _announce(listener.url, as_json=as_json)
            await stop.wait()

    run_until_stopped(run)


def _announce(base_url: str, *, as_json: bool) -> None:
    if as_json:
        show_json({"base_url": base_url})
    else:
        typer.echo(f"Serving {base_url} (Ctrl-C stops)", err=True)


def application() -> Application:
    """Return the application of one of several API processes; called by each process."""
    configure_logs()
    return process_application()


def worker(as_json: AsJson = False) -> None:
    """Run background jobs until stopped."""
    configure_logs()
    with reporting_errors():
        settings = read_settings()
        with database_url(settings, serving=True) as url:
            state = require_current_schema(url)
            require_secret(settings, url)
            log_setting_warnings(settings)

            async def run(stop: asyncio.Event) -> None:
                if as_json:
                    show_json({"revision": state.revision})
                else:
                    typer.echo("Working (Ctrl-C stops)", err=True)
                await run_worker(settings, url, SystemClock(), stop)

            run_until_stopped(run)
