"""One call of an endpoint: the customer, the request, and its parameters and body."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.types import Scope

from tradecounter.kit.errors import DomainError, Kind
from tradecounter.rest.form import MEDIA_TYPE as FORM
from tradecounter.rest.form import read_form
from tradecounter.rest.ignored import HEADER as IGNORED_HEADER
from tradecounter.rest.ignored import header_value, unknown_fields
from tradecounter.rest.json_text import check_text, read_json
from tradecounter.rest.parameters import read_parameters

Struct = TypeVar("Struct", bound=msgspec.Struct)

_RESPONSE_HEADERS = "tradecounter.response_headers"
_IGNORED = "tradecounter.ignored"


def add_response_headers(scope: Scope, headers: Mapping[str, str]) -> None:
    """Add headers to the response to a request, also when that is an error."""
    scope.setdefault(_RESPONSE_HEADERS, {}).update(headers)


def add_ignored(scope: Scope, names: Iterable[str]) -> None:
    """Add names to the response header that lists ignored parameters and fields."""
    ignored: list[str] = scope.setdefault(_IGNORED, [])
    ignored += names
    if ignored:
        add_response_headers(scope, {IGNORED_HEADER: header_value(ignored)})


def response_headers(scope: Scope) -> Mapping[str, str]:
    """Return the headers that were added to the response to a request."""
    headers: Mapping[str, str] = scope.get(_RESPONSE_HEADERS, {})
    return headers


@dataclass(frozen=True, slots=True)
class Call:
    """An admitted request to an endpoint."""

    request: Request
    base_url_of: Callable[[Request], str]
    max_body_bytes: int
    admitted_customer_id: int | None
    body_shapes: tuple[Any, ...] = ()  # the types of the body and of the response, whose fields are known

    @property
    def base_url(self) -> str:
        """The address of the API, without a slash at its end, as this client reaches it."""
        return self.base_url_of(self.request)

    @property
    def customer_id(self) -> int:
        """The customer's id; only for endpoints that need a credential."""
        if self.admitted_customer_id is None:
            raise RuntimeError("a public endpoint has no customer")
        return self.admitted_customer_id

    @property
    def target(self) -> tuple[str, str]:
        """The method and the path, without the query."""
        return self.request.method, self.request.scope["path"]

    @property
    def raw_query(self) -> str:
        """The query string as it was sent."""
        return self.request.scope["query_string"].decode("latin-1")  # type: ignore[no-any-return]

    @property
    def accept(self) -> str | None:
        """What the `Accept` header names, whether on one line or on several; None without it."""
        return ", ".join(self.request.headers.getlist("accept")) or None

    @property
    def accept_encoding(self) -> str:
        """What the `Accept-Encoding` header names; empty without it."""
        return ", ".join(self.request.headers.getlist("accept-encoding"))

    def path(self, name: str) -> str:
        """Return a parameter of the path, decoded."""
        value: str = self.request.path_params[name]
        return value

    def path_text(self, name: str, what: str, unknown: DomainError | None = None) -> str:
        """Return a text from the path, without white space around it.

        Raises `unknown`, or DomainError (not found), when no database could hold it.
        """
        value = self.path(name).strip()
        if "\x00" in value:
            raise unknown or DomainError(Kind.NOT_FOUND, f"{what} not found")
        return value

    def path_id(self, name: str, what: str) -> int:
        """Return a numeric id from the path. Raises DomainError (not found) when it cannot be one."""
        value = self.path(name)
        if not (value.isascii() and value.isdigit() and len(value) <= 18):  # noqa: PLR2004 what 64 bits hold
            raise DomainError(Kind.NOT_FOUND, f"{what} not found")
        return int(value)

    def query(self, shape: type[Struct]) -> Struct:
        """Return the query parameters. Raises DomainError (invalid) naming the parameter at fault."""
        return read_parameters(self.raw_query, shape)

    async def body(self, shape: type[Struct], *, required: bool = True) -> Struct:
        """Return the JSON body. An empty one counts as `{}` unless it is required.

        Raises DomainError: invalid (naming the field), too large, or unsupported media.
        """
        return read_json(await self.json_text(required=required), shape)

    async def json_text(self, *, required: bool = True) -> bytes:
        """Return the JSON body as it was sent, as text that can be stored; an empty one as in `body`.

        Raises DomainError: invalid, too large, or unsupported media.
        """
        raw = await self._raw_body(self.max_body_bytes)
        if not raw.strip():
            if required:
                raise DomainError(Kind.INVALID, "the request body is empty: send a JSON object")
            raw = b"{}"
        else:
            self._check_media_type()
        check_text(raw)
        self._name_ignored_fields(raw)
        return raw

    def _name_ignored_fields(self, raw: bytes) -> None:
        with suppress(msgspec.DecodeError, RecursionError):  # the endpoint says what is wrong
            add_ignored(self.request.scope, unknown_fields(msgspec.json.decode(raw), *self.body_shapes))

    async def form(self, most_bytes: int = 64 * 1024) -> dict[str, str]:
        """Return the fields of a form that was sent as body.

        Raises DomainError: invalid (a repeated field, what cannot be decoded), too large, or unsupported media.
        """
        self._check_media_type(FORM, default="")
        return read_form(await self._raw_body(min(most_bytes, self.max_body_bytes)))

    def _check_media_type(self, wanted: str = "application/json", default: str = "application/json") -> None:
        media_type = self.request.headers.get("content-type", default).partition(";")[0].strip()
        if media_type.lower() != wanted:
            raise DomainError(Kind.UNSUPPORTED_MEDIA, f"Content-Type: must be {wanted}, not {media_type[:100]}")

    async def _raw_body(self, most_bytes: int) -> bytes:
        coding = ", ".join(self.request.headers.getlist("content-encoding")).strip()
        if coding.lower() not in {"", "identity"}:
            raise DomainError(Kind.UNSUPPORTED_MEDIA, f"Content-Encoding: must be left out, not {coding[:100]}")
        too_large = DomainError(Kind.TOO_LARGE, f"the body is longer than {most_bytes} bytes")
        announced = self.request.headers.get("content-length", "0")
        if announced.isdigit() and int(announced) > most_bytes:
            raise too_large
        raw = bytearray()
        async for chunk in self.request.stream():
            raw += chunk
            if len(raw) > most_bytes:
                raise too_large
        return bytes(raw)
