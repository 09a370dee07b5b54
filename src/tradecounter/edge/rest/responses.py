"""Creates JSON responses, files, long responses in chunks, and error responses, which a request may have as pages."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Annotated, Any, BinaryIO

import msgspec
from msgspec import Struct, field
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tradecounter.edge.rest.negotiation import JSON
from tradecounter.kit.errors import MOST_FIELD_ERRORS, USUAL_CODE, Code, FieldError, Kind
from tradecounter.kit.json_text import to_json

Header = tuple[bytes, bytes]


class Error(msgspec.Struct):
    """What is wrong, and how to correct it. Every error but 401 has this body."""

    message: Annotated[str, msgspec.Meta(description="Everything that is wrong, as one sentence to display.")]
    code: Annotated[Code, msgspec.Meta(description="Why the request is rejected, for programs.")]
    errors: Annotated[
        list[FieldError] | msgspec.UnsetType,
        msgspec.Meta(description="Each field that is not valid; `message` says the same."),
    ] = msgspec.UNSET


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a JSON response."""
    return Response(to_json(value), status, headers, JSON)


def file_response(content: bytes | str, name: str, media_type: str) -> Response:
    """Return a file, which browsers save under a name."""
    return Response(content, media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def error_response(
    message: str,
    code: Code,
    status: int,
    headers: Mapping[str, str] | None,
    field_errors: Sequence[FieldError] = (),
) -> Response:
    """Return a response with the general error body."""
    errors = [error for error in field_errors[:MOST_FIELD_ERRORS] if error.field]
    return json_response(Error(message, code, errors or msgspec.UNSET), status, headers)


STATUS = {
    Kind.INVALID: 400,
    Kind.UNAUTHENTICATED: 401,
    Kind.PAYMENT_REQUIRED: 402,
    Kind.BLOCKED: 403,
    Kind.FORBIDDEN: 403,
    Kind.NOT_FOUND: 404,
    Kind.CONFLICT: 409,
    Kind.GONE: 410,
    Kind.PRECONDITION_FAILED: 412,
    Kind.TOO_LARGE: 413,
    Kind.QUERY_TOO_LONG: 414,
    Kind.UNSUPPORTED_MEDIA: 415,
    Kind.TOO_MANY_REQUESTS: 429,
    Kind.UNAVAILABLE: 503,
}

USUAL_CODES = {STATUS[kind]: code for kind, code in USUAL_CODE.items() if kind is not Kind.FORBIDDEN} | {
    500: Code.INTERNAL_ERROR
}


class ChunkedResponse(Response):
    """A response whose body is rendered as the client reads it, without a `Content-Length`.

    Of all responses that share a `lock`, one at a time renders a chunk; other tasks run after each chunk.
    """

    def __init__(
        self,
        chunks: Iterator[bytes] | AsyncGenerator[bytes, None],
        lock: asyncio.Lock,
        *,
        headers: Mapping[str, str],
        media_type: str,
    ) -> None:
        self.status_code = 200
        self.media_type = media_type
        self.background = None
        self.init_headers(headers)
        self._chunks = chunks if isinstance(chunks, AsyncGenerator) else _asynchronous(chunks)
        self._lock = lock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response; a HEAD request renders no chunk. Raises ClientDisconnect."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        chunk: bytes | None = b""
        gone = asyncio.create_task(_until_gone(receive))
        try:
            async with aclosing(self._chunks):
                while chunk is not None:
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                    if gone.done():
                        raise ClientDisconnect from gone.exception()
                    chunk = None if scope["method"] == "HEAD" else await self._next()
        finally:
            gone.cancel()
        await send({"type": "http.response.body", "body": b""})

    async def _next(self) -> bytes | None:
        async with self._lock:
            await asyncio.sleep(0)
            return await anext(self._chunks, None)


async def _asynchronous(chunks: Iterator[bytes]) -> AsyncGenerator[bytes, None]:
    for chunk in chunks:
        yield chunk


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


_PIECE_BYTES = 256 * 1024


class OpenFileResponse(ChunkedResponse):
    """A file as of `file_response`, which is read as the client takes it, from its beginning, and closed then."""

    def __init__(self, file: BinaryIO, name: str, media_type: str) -> None:
        file.seek(0)
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        pieces = iter(lambda: file.read(_PIECE_BYTES), b"")
        super().__init__(pieces, asyncio.Lock(), headers=headers, media_type=media_type)
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response; a HEAD request reads nothing. Raises ClientDisconnect."""
        with self._file:
            await super().__call__(scope, receive, send)


_KEY = "tradecounter.error_page"


class Failure(Struct, frozen=True):
    """An error as a response: its status, text and headers, and the exception."""

    status: int
    message: str
    error: Exception
    headers: Mapping[str, str] = field(default_factory=dict)


ErrorPage = Callable[[Request, Failure], Response]


def show_errors_with(scope: Scope, page: ErrorPage) -> None:
    """Let a page show a request's errors."""
    scope[_KEY] = page


def error_page_of(scope: Scope) -> ErrorPage | None:
    """Return the page that shows a request's errors, or None."""
    page: ErrorPage | None = scope.get(_KEY)
    return page
