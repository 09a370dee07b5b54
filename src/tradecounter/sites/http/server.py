"""Serves the API over HTTP, from one process or several."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Literal

import uvicorn
from msgspec import Struct

from tradecounter.db.pool import Database
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import OperatorError
from tradecounter.settings import Settings
from tradecounter.sites.http.api_processes import ApiProcess, Supervisor
from tradecounter.sites.http.fast_path.protocol import FastPathProtocol
from tradecounter.sites.http.site import Site
from tradecounter.sites.http.winding_down import Server

_START_POLL_SECONDS = 0.02


class Listener(Struct, frozen=True):
    """A bound socket and its URL."""

    socket: socket.socket
    url: str


def listen(host: str, port: int, option: str = "--port") -> Listener:
    """Bind an address; port 0 is any free port. Raises OperatorError, which names the option of the port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY, which sends responses without delay, only on a socket with an explicit protocol.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen()  # no other process can take the port before the API is ready
    except OSError as error:
        bound.close()
        raise OperatorError(
            f"cannot listen on {host} port {port}: {error.strerror}; choose another {option}, or 0 for any free port"
        ) from error
    bound.set_inheritable(True)
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104 shown, not bound
    return Listener(bound, f"http://{shown}:{bound.getsockname()[1]}")


def _config(app: Site | str, *, lifespan: Literal["on", "off"], workers: int = 1) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=isinstance(app, str),
        workers=workers,
        http=FastPathProtocol,
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,  # `edge/server/client_address.py` reads them by the setting TRUSTED_PROXIES
        timeout_graceful_shutdown=10,
        timeout_worker_healthcheck=15,  # a process on a busy machine may respond late
        timeout_keep_alive=75,  # longer than proxies keep idle connections: they must close them first
        reset_contextvars=True,  # otherwise a request inherits the customer of its connection's previous request
        lifespan=lifespan,
    )


class _Server(Server):
    """A server that does not handle signals; its caller does."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def database_for_requests(settings: Settings, database_url: str) -> Database:
    """Return the connections that requests of a site share, which nothing has opened yet."""
    return Database(
        database_url,
        connections=settings.database_connections,
        for_requests=True,
        commit_seconds=settings.commit_timeout.total_seconds(),
    )


@asynccontextmanager
async def serving(
    kind: Callable[..., Site], settings: Settings, database_url: str, clock: Clock, listener: Listener
) -> AsyncIterator[Site]:
    """Serve a kind of site from this process while the block runs."""
    database = database_for_requests(settings, database_url)
    site = kind(settings, database, clock, alone=True)
    async with run_server(site, listener):
        yield site


@asynccontextmanager
async def run_server(application: Site, listener: Listener) -> AsyncIterator[None]:
    """Serve a site while the block runs. Raises start-up errors, for example for a missing database."""
    async with application.running():
        server = _Server(_config(application, lifespan="off"))
        task = asyncio.create_task(server.serve(sockets=[listener.socket]))
        while not server.started and not task.done():  # noqa: ASYNC110 the server offers a flag, no event
            await asyncio.sleep(_START_POLL_SECONDS)
        try:
            yield
        finally:
            server.should_exit = True
            await task


def serve_processes(listener: Listener, workers: int, application: str, figures_folder: Path | None = None) -> None:
    """Serve from several processes until a signal. Each process calls the factory `application` (`module:name`).

    They write their figures to `figures_folder`, about once a second. Each reads the settings, and finds the embedded
    database and its secret key, itself: what is passed on in the environment would precede a changed `.env`.
    """
    ApiProcess.figures_folder = figures_folder
    _import_nothing_from_the_working_directory()
    config = _config(application, lifespan="on", workers=workers)
    Supervisor(config, sockets=[listener.socket]).run()


def _import_nothing_from_the_working_directory() -> None:
    """Remove what `python -m` adds to the path, which child processes inherit; the fork server would add it again."""
    os.environ.setdefault("PYTHONSAFEPATH", "1")
    with suppress(OSError):  # the working directory was deleted
        if not sys.flags.safe_path and sys.path[0] in {"", os.getcwd()}:  # noqa: PTH109 a string
            del sys.path[0]
