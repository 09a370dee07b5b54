"""An endpoint call: the customer, the request, and the request's parameters and body."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.types import Scope

from tradecounter.edge.rest.negotiation import accepted_codings
from tradecounter.edge.rest.parameters import (
    FORM_MEDIA_TYPE,
    IGNORED_HEADER,
    header_value,
    read_form,
    read_parameters,
    unknown_fields,
)
from tradecounter.edge.rest.responses import Header
from tradecounter.kit.actor import Actor
from tradecounter.kit.errors import DomainError, Kind, not_found
from tradecounter.kit.json_text import check_text, decode_json, read_json
from tradecounter.kit.numbers import read_id

Shape = TypeVar("Shape", bound=msgspec.Struct)

_RESPONSE_HEADERS = "tradecounter.response_headers"
_IGNORED = "tradecounter.ignored"


def add_response_headers(scope: Scope, headers: Iterable[Header]) -> None:
    """Add headers, with names in lower case, to a request's response, also if the response is an error."""
    scope.setdefault(_RESPONSE_HEADERS, {}).update(headers)


def add_ignored(scope: Scope, names: Iterable[str]) -> None:
    """Add names to the `X-Ignored` response header, which lists ignored parameters and fields."""
    ignored: list[str] = scope.setdefault(_IGNORED, [])
    ignored += names
    if ignored:
        add_response_headers(scope, [(IGNORED_HEADER.lower().encode(), header_value(ignored).encode())])


def response_headers(scope: Scope) -> Mapping[bytes, bytes]:
    """Return the headers that were added to a request's response."""
    headers: Mapping[bytes, bytes] = scope.get(_RESPONSE_HEADERS, {})
    return headers


async def read_body(request: Request, most_bytes: int) -> bytes:
    """Return a body. Raises DomainError: too large, or unsupported media; and ClientDisconnect."""
    _check_coding(request)
    too_large = DomainError(Kind.TOO_LARGE, f"the body is longer than {most_bytes} bytes")
    announced = request.headers.get("content-length", "0")
    if announced.isdigit() and int(announced) > most_bytes:
        raise too_large
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > most_bytes:
            raise too_large
    return bytes(raw)


class Call(Struct, frozen=True):
    """A request that was admitted to an endpoint."""

    request: Request
    base_url_of: Callable[[Request], str]
    max_body_bytes: int
    admitted_customer_id: int | None
    actor_of: Callable[[Scope], Actor]
    body_shapes: tuple[Any, ...] = ()  # the types of request body and response body, whose fields count as known

    @property
    def base_url(self) -> str:
        """The base URL through which this client reaches the API, without a trailing slash."""
        return self.base_url_of(self.request)

    @property
    def customer_id(self) -> int:
        """The customer's id. Raises RuntimeError on a public endpoint."""
        if self.admitted_customer_id is None:
            raise RuntimeError("a public endpoint has no customer")
        return self.admitted_customer_id

    @property
    def actor(self) -> Actor:
        """The actor of the changes that the request makes. Raises RuntimeError at a public endpoint."""
        return self.actor_of(self.request.scope)

    @property
    def target(self) -> tuple[str, str]:
        """The method and the path, without the query."""
        return self.request.method, self.request.scope["path"]

    @property
    def raw_query(self) -> str:
        """The query string as sent."""
        return self.request.scope["query_string"].decode("latin-1")  # type: ignore[no-any-return]

    @property
    def accept(self) -> str | None:
        """The values of all `Accept` headers, or None."""
        return ", ".join(self.request.headers.getlist("accept")) or None

    @property
    def accept_encoding(self) -> str:
        """The values of all `Accept-Encoding` headers; empty without one."""
        return accepted_codings(self.request.scope)

    def path(self, name: str) -> str:
        """Return a path parameter, percent-decoded."""
        value: str = self.request.path_params[name]
        return value

    def path_text(self, name: str, what: str, unknown: Callable[[str], DomainError] | None = None) -> str:
        """Return a path parameter, stripped. Raises `unknown`, or DomainError (not found), for a NUL character."""
        value = self.path(name).strip()
        if "\x00" in value:
            raise not_found(what, value) if unknown is None else unknown(value)
        return value

    def path_id(self, name: str, what: str) -> int:
        """Return a path parameter that is a numeric id. Raises DomainError (not found) for other values."""
        value = self.path(name)
        number = read_id(value)
        if number is None:
            raise not_found(what, value)
        return number

    def query(self, shape: type[Shape]) -> Shape:
        """Return the query parameters. Raises DomainError (invalid), which names all invalid parameters."""
        return read_parameters(self.raw_query, shape)

    async def body(self, shape: type[Shape], *, required: bool = True) -> Shape:
        """Return the JSON body; an empty body counts as `{}` unless `required`.

        Raises DomainError: invalid (names the fields), too large, or unsupported media.
        """
        return read_json(await self.json_text(required=required), shape)

    async def json_text(self, *, required: bool = True) -> bytes:
        """Return the JSON body as sent, in a form that the database can store. Raises DomainError as `body` does."""
        raw = await read_body(self.request, self.max_body_bytes)
        if not raw.strip():
            if required:
                raise DomainError(Kind.INVALID, "the request body is empty: send a JSON object")
            raw = b"{}"
        else:
            self._check_media_type("application/json")
        check_text(raw)
        self._name_ignored_fields(raw)
        return raw

    def upload(self) -> AsyncIterator[bytes]:
        """Return the body as it arrives. Raises DomainError: unsupported media (compressed)."""
        _check_coding(self.request)
        return self.request.stream()

    async def file(self, *media_types: str) -> tuple[str, bytes]:
        """Return a short body that is not JSON, after its type. Raises DomainError: too large, or unsupported media."""
        media_type = self._check_media_type(*media_types, default="")
        return media_type, await read_body(self.request, self.max_body_bytes)

    def _name_ignored_fields(self, raw: bytes) -> None:
        with suppress(DomainError):  # the endpoint sends the error, with its place
            add_ignored(self.request.scope, unknown_fields(decode_json(raw), *self.body_shapes))

    async def form(self, most_bytes: int = 64 * 1024) -> dict[str, str]:
        """Return the fields of a form. Raises DomainError: invalid, too large, or unsupported media."""
        self._check_media_type(FORM_MEDIA_TYPE, default="")
        return read_form(await read_body(self.request, min(most_bytes, self.max_body_bytes)))

    def _check_media_type(self, *wanted: str, default: str = "application/json") -> str:
        media_type = self.request.headers.get("content-type", default).partition(";")[0].strip()
        if media_type.lower() not in wanted:
            known = " or ".join(wanted)
            raise DomainError(Kind.UNSUPPORTED_MEDIA, f"Content-Type: must be {known}, not {media_type[:100]}")
        return media_type.lower()


def _check_coding(request: Request) -> None:
    coding = ", ".join(request.headers.getlist("content-encoding")).strip()
    if coding.lower() not in {"", "identity"}:
        raise DomainError(Kind.UNSUPPORTED_MEDIA, f"Content-Encoding: must be left out, not {coding[:100]}")
