"""Sites behind HAProxy, as `deploy/haproxy.cfg` configures it, whose processes are restarted under load.

Only the addresses of the configuration are changed.
"""

import re
import signal
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from support.command_line import Running, started
from support.front_proxies import FrontProxy, running_proxy
from support.other_releases import Release
from support.processes import api_processes
from support.waiting import wait_for

CONFIGURATION = Path(__file__).parents[2] / "deploy" / "haproxy.cfg"


class Node:
    """A site, or the worker, in processes of its own; it keeps its port when it is restarted."""

    def __init__(self, *words: str, folder: Path, environment: Mapping[str, str]) -> None:
        self.words = words
        self.environment = environment
        self.release: Release | None = None  # this one, unless another is set
        self.url = ""
        self.restarts = 0
        self._folder = folder
        self._stack = ExitStack()
        self._running: Running | None = None

    @property
    def address(self) -> str:
        """Where it listens: host and port."""
        return urlsplit(self.url).netloc

    def start(self) -> None:
        """Start it and wait until it is ready."""
        serves = self.words[0] != "worker"
        port = ["--port", self.address.rpartition(":")[2] or "0"] if serves else []
        environment = {**self.environment, **({} if self.release is None else self.release.environment)}
        python = sys.executable if self.release is None else str(self.release.python)
        self._running = self._stack.enter_context(
            started(*self.words, *port, "--json", folder=self._folder, environment=environment, python=python)
        )
        if serves:
            self.url = self._running.announced["base_url"]
            wait_for(self._is_ready)

    def stop(self) -> None:
        """End it as systemd does; it must end in order, without an error in its log."""
        if self._running is None:
            return
        running, self._running = self._running, None
        with self._stack.pop_all():
            assert running.stop(signal.SIGTERM) == (0, ""), running.logs
        assert not [line for line in running.logs if "error" in line], running.logs

    def restart(self) -> None:
        """Restart it as the guide says; then the next one may be restarted."""
        self.stop()
        self.start()
        self.restarts += 1

    def replace_workers(self) -> None:
        """Have the supervisor replace its processes one after the other; wait until it has."""
        assert self._running is not None
        former = self._workers()
        self._running.process.send_signal(signal.SIGHUP)
        wait_for(lambda: len(now := self._workers()) == len(former) and not now & former)
        self.restarts += 1

    def _workers(self) -> set[int]:
        assert self._running is not None
        return api_processes(self._running.process.pid)

    def _is_ready(self) -> bool:
        try:
            return httpx2.get(f"{self.url}/ready", timeout=5).status_code == 200
        except httpx2.TransportError:
            return False


@contextmanager
def running_nodes(*nodes: Node) -> Iterator[None]:
    """Run nodes while the block runs."""
    try:
        with ThreadPoolExecutor(len(nodes)) as starters:
            list(starters.map(Node.start, nodes))
        yield
    finally:
        with ExitStack() as stack:
            for node in nodes:
                stack.callback(node.stop)


@contextmanager
def behind_haproxy(public: Sequence[Node], backoffice: Node) -> Iterator[tuple[FrontProxy, FrontProxy]]:
    """HAProxy as it is shipped, in front of running nodes; yield the public site and the back office."""
    with socket.create_server(("127.0.0.1", 0)) as office:

        def command(folder: Path, listener: socket.socket) -> list[str]:
            servers = [f"    server node{n} {node.address}" for n, node in enumerate(public)]
            text = CONFIGURATION.read_text()
            for shipped, ours in {
                "bind :8080": f"bind fd@{listener.fileno()}",
                "bind :8001": f"bind fd@{office.fileno()}",
                " resolvers containers init-addr none": "",
                "    server-template node 4 public:8000": "\n".join(servers),
                "server backoffice backoffice:8001": f"server backoffice {backoffice.address}",
            }.items():
                assert shipped in text, shipped
                text = text.replace(shipped, ours)
            text = re.sub(r"^resolvers containers\n(    .*\n)*", "", text, flags=re.MULTILINE)
            configuration = folder / "haproxy.cfg"
            configuration.write_text(text)
            return ["haproxy", "-db", "-f", str(configuration)]

        with running_proxy("haproxy", command, more=[office]) as site:
            yield site, FrontProxy("haproxy", site.host, office.getsockname()[1], site.pid, site.log)
