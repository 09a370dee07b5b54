"""A real HAProxy or nginx in front of a running service, configured as Debian's packages and their manuals suggest.

The sizes for headers are those of the files in deploy/.

Each listens on a free port of 127.0.0.1, appends the client's address to `X-Forwarded-For`, and ends with its block.
The service sees it as 127.0.0.1; a client of `FrontProxy.connect` has another loopback address.
"""

import itertools
import os
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address
from pathlib import Path
from urllib.parse import urlsplit

PACKAGES = {"haproxy": "haproxy", "nginx": "nginx-light"}  # Debian's package of each program
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"  # where Debian has them, also for users other than root
_START_SECONDS = 20.0
_ROOT = Path(__file__).parents[2]
_numbers = itertools.count(1)

# The log is standard output instead of syslog, and the process stays in the foreground.
_HAPROXY = """
global
    log stdout format raw local0
    {size}
defaults
    log global
    mode http
    option httplog
    option dontlognull
    timeout connect 5000
    timeout client 50000
    timeout server 50000
frontend clients
    bind fd@{descriptor}
    option forwardfor
    default_backend service
backend service
    server service {target}
"""
_NGINX = """
{user}
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr;
events {{ worker_connections 768; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    {sizes}
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    upstream service {{
        server {target};
        {upstream}
    }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://service;
            proxy_set_header Host $host;
            proxy_set_header X-Real-IP $remote_addr;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header X-Forwarded-Proto $scheme;
            {location}
        }}
    }}
}}
"""
_NGINX_KEEP_ALIVE = {
    "upstream": "keepalive 16;",
    "location": 'proxy_http_version 1.1; proxy_set_header Connection "";',
}


@dataclass(frozen=True, slots=True)
class FrontProxy:
    """A running proxy, and the file that it logs to."""

    name: str
    host: str
    port: int
    pid: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def connect(self, address: str | None = None, timeout: float = 10.0) -> socket.socket:
        """A connection from a loopback address; without one, from an address that no other client has."""
        address = address or unused_address()
        return socket.create_connection((self.host, self.port), timeout=timeout, source_address=(address, 0))


def haproxy_size() -> str:
    """The line of the shipped files that lets HAProxy take long headers."""
    [line] = set(re.findall(r"tune\.bufsize .*", (_ROOT / "deploy" / "haproxy.cfg").read_text()))
    return str(line)


def nginx_sizes() -> str:
    """The directives of the shipped file that let nginx take long headers."""
    shipped = (_ROOT / "deploy" / "nginx.conf").read_text()
    return "\n".join(re.findall(r"^(?:large_client_header_buffers|proxy_\w*buffers?\w*) .*;$", shipped, re.MULTILINE))


Start = Callable[[str], AbstractContextManager[FrontProxy]]  # with the service's address


def unused_address() -> str:
    """A loopback address for one more client."""
    return str(IPv4Address(0x7F010000 + next(_numbers)))


def missing_packages() -> list[str]:
    """Debian's packages of the proxies that are not installed here."""
    return [package for program, package in PACKAGES.items() if shutil.which(program, path=_PATH) is None]


@contextmanager
def haproxy(service_url: str) -> Iterator[FrontProxy]:
    """HAProxy in front of a service while the block runs; it keeps connections open on both sides."""

    def command(folder: Path, listener: socket.socket) -> list[str]:
        configuration = folder / "haproxy.cfg"
        target = urlsplit(service_url).netloc
        configuration.write_text(_HAPROXY.format(descriptor=listener.fileno(), target=target, size=haproxy_size()))
        return ["haproxy", "-db", "-f", str(configuration)]

    with running_proxy("haproxy", command) as proxy:
        yield proxy


@contextmanager
def nginx(service_url: str, *, keep_alive: bool = False) -> Iterator[FrontProxy]:
    """Nginx in front of a service while the block runs.

    It asks the service in HTTP/1.0, one connection for each request, as it does by default; with `keep_alive` in
    HTTP/1.1 on connections that stay open.
    """

    def command(folder: Path, listener: socket.socket) -> list[str]:
        configuration = folder / "nginx.conf"
        values = {
            "user": "user root;" if os.geteuid() == 0 else "",  # others may not enter the folder
            "folder": folder,
            "port": listener.getsockname()[1],
            "target": urlsplit(service_url).netloc,
            "sizes": nginx_sizes(),
            **(_NGINX_KEEP_ALIVE if keep_alive else dict.fromkeys(_NGINX_KEEP_ALIVE, "")),
        }
        configuration.write_text(_NGINX.format(**values))
        return ["nginx", "-e", "stderr", "-p", str(folder), "-c", str(configuration)]

    with running_proxy("nginx", command) as proxy:
        yield proxy


@contextmanager
def direct(service_url: str) -> Iterator[FrontProxy]:
    """The service itself, for tests that also run behind the proxies."""
    address = urlsplit(service_url)
    yield FrontProxy("direct", address.hostname or "", address.port or 0, os.getpid(), Path(os.devnull))


def fronts() -> dict[str, Start]:
    """What can stand in front of the service here: nothing, and the proxies that are installed."""
    found: dict[str, Start] = {"direct": direct}
    if not missing_packages():
        found |= {"haproxy": haproxy, "nginx": partial(nginx, keep_alive=True)}
    return found


@contextmanager
def running_proxy(
    name: str, command: Callable[[Path, socket.socket], list[str]], more: Sequence[socket.socket] = ()
) -> Iterator[FrontProxy]:
    """Run a proxy. It inherits the bound socket, so that no other process can take the port before it listens.

    It inherits `more` sockets too.
    """
    with tempfile.TemporaryDirectory(prefix=f"{name}-") as place, socket.create_server(("127.0.0.1", 0)) as listener:
        folder = Path(place)
        log = folder / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                command(folder, listener),
                stdout=output,
                stderr=output,
                pass_fds=[each.fileno() for each in (listener, *more)],
                env={"PATH": _PATH, "NGINX": f"{listener.fileno()};"},  # nginx takes over the sockets listed there
            )
        host, port = listener.getsockname()
        listener.close()
        try:
            _wait_until_it_responds(FrontProxy(name, host, port, process.pid, log))
            yield FrontProxy(name, host, port, process.pid, log)
        finally:
            process.terminate()
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_until_it_responds(proxy: FrontProxy) -> None:
    """Wait for the first response: until the proxy is ready, the kernel keeps the connection for it."""
    try:
        with proxy.connect(timeout=_START_SECONDS) as connection:
            connection.sendall(b"GET /check-health HTTP/1.0\r\n\r\n")
            is_up = connection.recv(16).startswith(b"HTTP/1.")
    except OSError:
        is_up = False
    if not is_up:
        raise RuntimeError(f"{proxy.name} does not respond: {proxy.log.read_text()[-2000:]}")
