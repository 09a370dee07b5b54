"""The HTTP protocol class alone, with a small application behind it instead of the API."""

import asyncio
import socket
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import uvicorn
from starlette.types import Receive, Scope, Send

from support.waiting import happened
from tradecounter.edge.server.connection.connections import Connections
from tradecounter.edge.server.request_figures import Key, RequestFigures
from tradecounter.sites.http.fast_path.middleware import FastResponse
from tradecounter.sites.http.fast_path.protocol import FastPathProtocol
from tradecounter.sites.http.fast_path.response_cache import CachedResponse
from tradecounter.sites.http.server import listen


class Served(ABC):
    """An application as the protocol class needs it; a test says how it responds."""

    def __init__(self, connections: Connections | None = None) -> None:
        self.connections = Connections(1000, 1000, lambda _: False) if connections is None else connections
        self.requests = RequestFigures()
        self.stopping = asyncio.Event()

    @abstractmethod
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...


class Remembering(Served):
    """Responds to `/known` on the fast path with `known.`; a test says how it responds to anything else."""

    def __init__(self) -> None:
        super().__init__()
        self.fast_path = self
        self.known_heads: dict[bytes, str] = {}

    def read_head(self, scope: Scope) -> str | None:
        path: str = scope["path"]
        return path if path == "/known" else None

    def find_head(self, raw: bytes) -> str | None:
        return self.known_heads.get(raw)

    def add_head(self, raw: bytes, head: str) -> None:
        self.known_heads[raw] = head

    def context(self, head: str, _client: tuple[str, int] | None) -> str:
        return head

    def count_sent(self, key: Key, _context: str, seconds: float) -> None:
        self.requests.add(key, seconds)

    def respond(self, _context: str) -> FastResponse:
        return FastResponse(
            CachedResponse((b"", "/product"), 200, b"", ((b"content-length", b"6"),), (b"known.",)), [], is_made=False
        )


@dataclass
class Server:
    address: tuple[str, int]
    state: uvicorn.server.ServerState
    opened: list[asyncio.StreamWriter] = field(default_factory=list)

    async def connect(self, receive_buffer: int | None = None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the server; `receive_buffer` is the size of the kernel's, which never grows then."""
        made = socket.socket()
        made.settimeout(0)
        if receive_buffer is not None:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        await asyncio.get_running_loop().sock_connect(made, self.address)
        reader, writer = await asyncio.open_connection(sock=made, limit=receive_buffer or 2**16)
        self.opened.append(writer)
        return reader, writer

    async def has(self, count: int) -> None:
        """Wait until exactly this many connections are open."""
        await happened(lambda: len(self.state.connections) == count)

    async def is_quiet(self) -> None:
        """Wait until no connection is open and no response is being made."""
        await happened(lambda: not (self.state.connections or self.state.tasks))


@asynccontextmanager
async def serving(app: Served, protocol: type[FastPathProtocol], keep_alive: int = 5) -> AsyncIterator[Server]:
    """Serve while the block runs."""
    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(
        app,
        http=protocol,
        proxy_headers=False,
        ws="none",
        lifespan="off",
        log_config=None,
        timeout_keep_alive=keep_alive,
        timeout_graceful_shutdown=5,
    )
    server = uvicorn.Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[listener.socket])
    found = Server(listener.socket.getsockname(), server.server_state)
    try:
        yield found
    finally:
        for writer in found.opened:
            writer.close()
        await server.shutdown(sockets=[listener.socket])
