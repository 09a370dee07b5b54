"""`tradecounter serve` and `tradecounter worker`."""

import asyncio
from typing import Annotated

import typer

from tradecounter.cli.logs import configure_logs
from tradecounter.cli.session import database_url, refusing, require_current_schema, run_until_stopped
from tradecounter.identity.installation_secret import secret_key
from tradecounter.kit.clock import SystemClock
from tradecounter.settings import read_settings
from tradecounter.web.server import listen, serve_processes, serving
from tradecounter.worker import run_worker

Host = Annotated[str, typer.Option(help="The address to listen on.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 takes any free one.")]


def serve(
    host: Host = "127.0.0.1",
    port: Port = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, help="How many processes answer requests.")] = 1,
) -> None:
    """Serve the API."""
    configure_logs()
    with refusing():
        settings = read_settings()
        secret_key(settings)  # fail now rather than at the first request that needs it
        listener = listen(host, port)
        with database_url(settings) as url:
            require_current_schema(url)

            async def run(stop: asyncio.Event) -> None:
                async with serving(settings, url, SystemClock(), listener):
                    typer.echo(f"Serving {listener.url} (Ctrl-C stops)", err=True)
                    await stop.wait()

            if workers == 1:
                run_until_stopped(run)
            else:
                typer.echo(f"Serving {listener.url} from {workers} processes (Ctrl-C stops)", err=True)
                serve_processes(listener, url, workers)


def worker() -> None:
    """Run background jobs until told to stop."""
    configure_logs()
    with refusing(), database_url(read_settings()) as url:
        require_current_schema(url)
        typer.echo("Working (Ctrl-C stops)", err=True)
        run_until_stopped(lambda stop: run_worker(url, SystemClock(), stop))
