"""Sends one HTTP request to an address that a customer or a stranger has named; the server may be slow or hostile.

Against SSRF, it connects only to an address that was judged before, so a changed DNS record has no effect. It follows
no redirect, uses no proxy, and reads only the beginning of a response. Every request has its own connection.
"""

import asyncio
import os
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

import httptools
from msgspec import Struct, field

from tradecounter.kit.trusted_authorities import trusted_authorities
from tradecounter.kit.web_addresses import Address, Network, may_connect_to

_MOST_POST_BYTES = 2048  # of a response: read and kept
_CONNECT_SECONDS = 5.0  # for one of several addresses
_MOST_ADDRESSES = 4
_MOST_BYTES = 64 * 1024  # of a response: its head, and the framing of its body
_CHUNK = 4096
_LOOKUPS_AT_ONCE = 32
_OK = 200
_PORTS = {"https": 443, "http": 80}
_AGENT = f"Tradecounter/{version('tradecounter')}"


class PostResponse(Struct, frozen=True, kw_only=True):
    """The response to a `POST`. Without a response, `error` has the reason, in words for the owner of the address."""

    status: int | None
    milliseconds: int
    error: str | None = None
    retry_after: str | None = None
    response: str = ""


class NotSentError(Exception):
    """The request got no usable response; the message says why."""


Lookup = Callable[[str, int], Awaitable[Sequence[str]]]


# For all senders of a process: pages make one for each document that they read.
_THREADS = ThreadPoolExecutor(_LOOKUPS_AT_ONCE, thread_name_prefix="outbound-lookup")


class NameService:
    """Looks up hosts in its own threads, so that slow name servers delay only requests that are sent here."""

    def __init__(self) -> None:
        self._running: dict[tuple[str, int], asyncio.Future[list[str]]] = {}

    async def __call__(self, host: str, port: int) -> list[str]:
        """Return a host's addresses; requests for the same host at the same time share a lookup. Raises OSError."""
        running = self._running.get((host, port))
        if running is None:
            loop = asyncio.get_running_loop()
            running = self._running[host, port] = loop.run_in_executor(_THREADS, _look_up, host, port)
            running.add_done_callback(lambda _done: self._running.pop((host, port), None))
        return await asyncio.shield(running)


def _look_up(host: str, port: int) -> list[str]:
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in addresses))


class HttpSender(Struct):
    """Sends over HTTP; it may connect to `networks` although they are not public."""

    networks: Sequence[Network] = ()
    allow_http: bool = False
    post_seconds: float = 15.0  # for a request and the beginning of its response
    lookup: Lookup = field(default_factory=NameService)
    tls: ssl.SSLContext = field(default_factory=trusted_authorities)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> PostResponse:
        """Send a JSON body once; the receiver cannot make it raise an error."""
        began = time.monotonic()
        parser = _Response(_MOST_POST_BYTES)
        error = None
        try:
            async with asyncio.timeout(self.post_seconds):
                fields = {"Content-Type": "application/json", "Content-Length": str(len(body)), "Accept": "*/*"}
                request = _head("POST", urlsplit(url), {**fields, **headers}) + body
                await self._exchange(urlsplit(url), request, parser)
        except TimeoutError:
            error = f"no complete response within {self.post_seconds:.0f} seconds"
        except NotSentError as failure:
            error = str(failure)
        except ssl.SSLCertVerificationError as failure:
            error = f"the certificate is not valid: {failure.verify_message}"
        except OSError as failure:
            error = f"the connection failed: {_cause(failure)}"[:500]
        except (httptools.HttpParserError, httptools.HttpParserUpgrade, ValueError) as failure:
            error = f"{type(failure).__name__}: {failure}"[:500]
        took = round((time.monotonic() - began) * 1000)
        text = bytes(parser.body[:_MOST_POST_BYTES]).decode(errors="replace").replace("\x00", "\ufffd")
        return PostResponse(
            status=None if error else parser.status,
            milliseconds=took,
            error=error,
            retry_after=parser.retry_after,
            response=text,
        )

    async def read(self, url: str, most_bytes: int, seconds: float) -> bytes:
        """Return a document. Raises NotSentError with the reason why it cannot be read."""
        response = _Response(most_bytes + 1)
        try:
            async with asyncio.timeout(seconds):
                request = _head("GET", urlsplit(url), {"Accept": "application/json"})
                await self._exchange(urlsplit(url), request, response)
        except TimeoutError:
            raise NotSentError(f"no complete response within {seconds:.0f} seconds") from None
        except (OSError, httptools.HttpParserError, httptools.HttpParserUpgrade, ValueError) as error:
            raise NotSentError(f"{type(error).__name__}: {error}"[:200]) from error
        if response.status != _OK or response.encoded:
            what = "it is compressed" if response.encoded else f"the status is {response.status}"
            raise NotSentError(what)
        if len(response.body) > most_bytes:
            raise NotSentError(f"it is longer than {most_bytes} bytes")
        return bytes(response.body)

    async def _exchange(self, url: SplitResult, request: bytes, response: "_Response") -> None:
        if url.scheme != "https" and not self.allow_http:
            raise NotSentError("the URL must start with https://")
        reader, writer = await self._connect(url)
        try:
            writer.write(request)  # not drained: a receiver may respond before it has read all
            await _read(reader, response)
        finally:
            writer.transport.abort()

    async def _connect(self, url: SplitResult) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host = (url.hostname or "").encode("idna").decode()
        port = url.port or _PORTS[url.scheme]
        allowed = [address for address in await self._addresses(host, port) if may_connect_to(address, self.networks)]
        if not allowed:
            raise NotSentError(f"{host} does not have a public address")
        tls, name = (self.tls, host) if url.scheme == "https" else (None, None)
        last = len(allowed[:_MOST_ADDRESSES]) - 1
        for number, address in enumerate(allowed[:_MOST_ADDRESSES]):
            try:
                async with asyncio.timeout(None if number == last else _CONNECT_SECONDS):
                    return await asyncio.open_connection(
                        str(address), port, limit=_CHUNK, ssl=tls, server_hostname=name
                    )
            except (OSError, TimeoutError):
                if number == last:
                    raise
        raise AssertionError  # never reached: the last address returns or raises

    async def _addresses(self, host: str, port: int) -> list[Address]:
        try:
            return [ip_address(host)]
        except ValueError:
            pass
        try:
            return [ip_address(text) for text in await self.lookup(host, port)]
        except OSError as error:
            raise NotSentError(f"the host name {host} could not be resolved: {_cause(error)}") from error


def _cause(error: OSError) -> str:
    """Return the reason of a system error without its number: Connection refused."""
    known = error.errno is not None and error.errno > 0 and not isinstance(error, socket.gaierror | ssl.SSLError)
    return os.strerror(error.errno or 0) if known else error.strerror or str(error) or type(error).__name__


def _head(method: str, url: SplitResult, headers: Mapping[str, str]) -> bytes:
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    fields = {
        "Host": url.netloc.encode("idna").decode() if not url.netloc.isascii() else url.netloc,
        "User-Agent": _AGENT,
        "Accept-Encoding": "identity",
        "Connection": "close",
        **headers,
    }
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode("ascii")


class _Response:
    """The beginning of a response, as the parser reports it."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self.parser = httptools.HttpResponseParser(self)
        self.status: int | None = None
        self.retry_after: str | None = None
        self.body = bytearray()
        self.complete = False
        self.encoded = False
        self.says_its_end = False  # by a length or chunks; otherwise the end of the connection is its end
        self._head_done = False

    def on_message_begin(self) -> None:
        self.retry_after = None
        self.says_its_end = False

    def on_header(self, name: bytes, value: bytes) -> None:
        match name.lower():
            case b"retry-after":
                self.retry_after = value[:100].decode("latin-1")
            case b"content-encoding":
                self.encoded = value.strip().lower() not in {b"", b"identity"}
            case b"content-length":
                self.says_its_end = True
            case b"transfer-encoding":
                self.says_its_end = b"chunked" in value.lower()

    def on_headers_complete(self) -> None:
        status = self.parser.get_status_code()
        if status >= 200:  # noqa: PLR2004 below are informational responses, which the final one follows
            self.status = status
            self._head_done = True

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.complete = self._head_done

    @property
    def enough(self) -> bool:
        return self.complete or len(self.body) >= self._most_bytes


async def _read(reader: asyncio.StreamReader, response: _Response) -> None:
    size = 0
    while not response.enough:
        data = await reader.read(_CHUNK)
        if not data:
            if response.status is None:
                raise NotSentError("the connection was closed without a response")
            if response.says_its_end:
                raise NotSentError("the connection was closed before the end of the response")
            return
        size += len(data)
        response.parser.feed_data(data)
        if size > _MOST_BYTES:
            raise NotSentError("the response is too long before its body")
