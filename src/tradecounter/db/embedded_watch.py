"""Restarts the embedded PostgreSQL when it dies while a service uses it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from tradecounter.db.embedded import EmbeddedPostgres
from tradecounter.db.embedded_programs import EmbeddedError

log = structlog.get_logger()

_LOOK_SECONDS = 0.5
_RETRY_SECONDS = 5.0


@contextmanager
def kept_running(server: EmbeddedPostgres) -> Iterator[None]:
    """Restart the server each time it dies while the block runs."""
    stop = threading.Event()
    # A thread, because the server is not a child process and the event loop may run in another process.
    watching = threading.Thread(target=_watch, args=(server, stop), name="embedded PostgreSQL", daemon=True)
    watching.start()
    try:
        yield
    finally:
        stop.set()
        watching.join()


def _watch(server: EmbeddedPostgres, stop: threading.Event) -> None:
    while not stop.wait(_LOOK_SECONDS):
        if server.running:
            continue
        log.error("the embedded PostgreSQL has died, restarting it", log=str(server.log))
        try:
            server.restart()
        except EmbeddedError as error:
            log.error("the embedded PostgreSQL does not start", error=str(error))  # noqa: TRY400 the message is sufficient
            stop.wait(_RETRY_SECONDS)
        else:
            log.warning("the embedded PostgreSQL is running again")
