"""A client that holds a conversation in raw HTTP, and reads the responses as strictly as HTTP/1.1 has it."""

import asyncio
import socket
import struct
from dataclasses import dataclass, field

from rigs.fuzz.raw_conversations import Conversation

PATIENCE_SECONDS = 30.0  # for responses that have to come
QUIET_SECONDS = 0.3  # without a byte, where none has to come
_PAUSE_SECONDS = 0.002  # between two pieces
_WITHOUT_BODY = {204, 304}


class NotHttpError(Exception):
    """What came back is no response; the message says what it is."""


@dataclass(frozen=True)
class RawResponse:
    """A response: its headers by lower-case name, each the last of its name."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        """Whose response it says it is; empty when it does not say, as responses of proxies."""
        return self.headers.get("x-request-id", "")


@dataclass
class Held:
    """What came of a conversation."""

    responses: list[RawResponse] = field(default_factory=list)
    broken: str = ""  # what the client could not read
    closed: bool = False  # by the service or the proxy


async def hold(conversation: Conversation, host: str, port: int, address: str) -> Held:
    """Send a conversation from an address and read what comes, for as long as its ending says."""
    reader, writer = await asyncio.open_connection(host, port, local_addr=(address, 0))
    held = Held()
    try:
        sending = asyncio.create_task(_send(conversation, writer))
        reading = asyncio.create_task(_read(conversation, reader, held))
        await sending
        if conversation.ending == "half-close" and writer.can_write_eof():
            writer.write_eof()
        if conversation.ending in {"close", "reset"}:
            reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    except OSError:
        held.closed = True
    finally:
        _close(writer, reset=conversation.ending == "reset")
    return held


async def _send(conversation: Conversation, writer: asyncio.StreamWriter) -> None:
    for piece in conversation.pieces:
        try:
            writer.write(piece)
            await asyncio.wait_for(writer.drain(), PATIENCE_SECONDS)
        except (OSError, TimeoutError):  # rejected before the end, or not taken: what came back tells
            return
        if len(conversation.pieces) > 1:
            await asyncio.sleep(_PAUSE_SECONDS)


async def _read(conversation: Conversation, reader: asyncio.StreamReader, held: Held) -> None:
    """Read responses until all have come, the connection ends, or nothing more has to come and it is quiet."""
    methods = {request.id: request.method for request in conversation.requests}
    is_sound = conversation.mutated is None and conversation.ending == "wait"
    while not (is_sound and len(held.responses) == len(conversation.requests)):
        expected = is_sound or len(held.responses) < len(conversation.sound)
        patience = PATIENCE_SECONDS if expected and conversation.ending == "wait" else QUIET_SECONDS
        try:
            response = await asyncio.wait_for(read_response(reader, methods), patience)
        except TimeoutError:
            return
        except (asyncio.IncompleteReadError, OSError) as ending:
            held.closed = True
            if isinstance(ending, asyncio.IncompleteReadError) and ending.partial:
                held.broken = f"cut short: {ending.partial[:80]!r}"
            return
        except (NotHttpError, ValueError, asyncio.LimitOverrunError) as error:
            held.broken = f"not HTTP: {error}"
            return
        if response.status >= 200:
            held.responses.append(response)


async def read_response(reader: asyncio.StreamReader, methods: dict[str, str]) -> RawResponse:
    head = await reader.readuntil(b"\r\n\r\n")
    line, *lines = head[:-4].decode("latin-1").split("\r\n")
    version, _, rest = line.partition(" ")
    if version != "HTTP/1.1" or not rest[:3].isdigit():
        raise NotHttpError(repr(line[:80]))
    status = int(rest[:3])
    pairs = (text.partition(":") for text in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    if status < 200 or status in _WITHOUT_BODY or methods.get(headers.get("x-request-id", "")) == "HEAD":
        return RawResponse(status, headers, b"")
    if headers.get("transfer-encoding") == "chunked":
        return RawResponse(status, headers, await _chunks(reader))
    if "content-length" in headers:
        return RawResponse(status, headers, await reader.readexactly(int(headers["content-length"])))
    return RawResponse(status, headers, await reader.read())


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while True:
        size = int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16)
        piece = await reader.readexactly(size + 2)
        if not piece.endswith(b"\r\n"):
            raise NotHttpError(f"a chunk does not end where it says: {piece[-20:]!r}")
        if size == 0:
            return body
        body += piece[:-2]


def _close(writer: asyncio.StreamWriter, *, reset: bool) -> None:
    if reset and not writer.is_closing():
        plain = writer.get_extra_info("socket")
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
    else:
        writer.close()
