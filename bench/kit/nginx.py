"""The limit of reads: nginx, one worker on the tested core, serving the bytes that the product returned."""

import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bench.kit.processes import BenchError, pinned, running

_START_SECONDS = 10
_CONFIGURATION = """
{user}
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    tcp_nodelay on;
    keepalive_timeout 600s;
    keepalive_requests 100000000;
    open_file_cache max=10000 inactive=600s;
    open_file_cache_valid 600s;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        root {folder}/files;
        default_type "{content_type}";
        {headers}
    }}
}}
"""


@dataclass(frozen=True, slots=True)
class Nginx:
    """A running nginx; `paths` are those of the files it serves, in the order given."""

    host: str
    port: int
    pid: int
    paths: list[str]


@contextmanager
def serving_files(
    folder: Path, bodies: Sequence[bytes], content_type: str, headers: Mapping[str, str] | None = None
) -> Iterator[Nginx]:
    """Serve bodies from files while the block runs, with the same content type and further headers."""
    place = folder / "nginx"
    files = place / "files"
    files.mkdir(parents=True, exist_ok=True)
    for old in files.iterdir():
        old.unlink()
    for number, body in enumerate(bodies):
        (files / str(number)).write_bytes(body)
    port = _free_port()
    configuration = place / "nginx.conf"
    configuration.write_text(
        _CONFIGURATION.format(
            user="user root;" if Path("/proc/self").stat().st_uid == 0 else "",
            folder=place,
            port=port,
            content_type=content_type,
            headers="".join(f'add_header {name} "{value}";' for name, value in (headers or {}).items()),
        )
    )
    command = pinned(["nginx", "-e", str(place / "nginx.log"), "-p", str(place), "-c", str(configuration)])
    with running(command, log=place / "nginx.log") as process:
        _wait_for(port, place / "nginx.log")
        yield Nginx("127.0.0.1", port, process.pid, [f"/{number}" for number in range(len(bodies))])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(port: int, log: Path) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.02)
    raise BenchError(f"nginx did not start: {log.read_text()[-500:] if log.exists() else ''}")
