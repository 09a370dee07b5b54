"""Declarations of endpoints, which define routing, validation, the interface document and the samples."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import date, timedelta
from types import MethodType
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field
from starlette.responses import Response

from tradecounter.edge.permissions import KeyScope
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.negotiation import JSON
from tradecounter.edge.rest.responses import Error
from tradecounter.kit.errors import Code

LEAST_NOTICE = timedelta(days=183)  # between the deprecation of an operation and its end

Handler = Callable[[Call], Awaitable[Response]]
Method = TypeVar("Method", bound=Callable[..., Awaitable[Response]])
Schema = Mapping[str, Any]
Examples = Mapping[str, Any]  # by summary

_MARK = "__operation__"
_PAGE = "__page__"

TEXT: Schema = {"type": "string", "minLength": 1}
ID: Schema = {"type": "integer", "format": "int64", "minimum": 1}


class Parameter(Struct, frozen=True):
    """A path parameter or a request header."""

    name: str
    description: str
    schema: Schema
    example: str | int
    takes_slashes: bool = False  # matches the rest of the path, because encoded slashes arrive decoded


class Header(Struct, frozen=True):
    """A response header; `always` means that responses that declare the header never omit it."""

    name: str
    description: str
    schema: Schema
    example: str | int
    always: bool = False


class Body(Struct, frozen=True):
    """The body of a request."""

    type: type[msgspec.Struct]
    examples: Examples
    media_type: str = JSON
    required: bool = True


class Media(Struct, frozen=True):
    """A body that is not JSON."""

    schema: Schema
    examples: Examples = field(default_factory=dict)


def csv_media(example: str) -> Media:
    """Return a CSV file as the interface document describes it."""
    return Media({"type": "string"}, {"A table": example})


class Link(Struct, frozen=True):
    """A link from the success response of operation `source`; its values are OpenAPI runtime expressions."""

    source: str
    description: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)


class Success(Struct, frozen=True):
    """The success response; `body` is the type of its JSON body."""

    status: int
    description: str
    body: Any = None
    examples: Examples = field(default_factory=dict)
    media_types: Mapping[str, Media] = field(default_factory=dict)
    headers: tuple[Header, ...] = ()


class ErrorResponse(Struct, frozen=True):
    """An error response; `example` is a message, or a `body` of another type. Without a type, the body is `{}`.

    The interface document describes errors with the same name once.
    """

    status: int
    description: str
    example: Any
    headers: tuple[Header, ...] = ()
    name: str = ""
    body: Any = Error
    code: Code | None = None  # of the example; by default the usual one of the status
    counted: bool = True  # the request counts towards the rate limit; the response has the limit's headers


class Sample(Struct, frozen=True):
    """Additional data for an operation's samples in the reference.

    `after` names an operation whose request is sent first, with `first_body` or else its first example. A link
    describes where its response contains the parameters.
    """

    query: Mapping[str, str] = field(default_factory=dict)
    after: str = ""
    first_body: Mapping[str, Any] | None = None


class Deprecation(Struct, frozen=True, kw_only=True):
    """Since when an operation is deprecated, when it ends, and what to use instead, as a sentence of Markdown.

    Days begin at midnight UTC. Raises ValueError if customers get less notice than the guide promises.
    """

    since: date
    sunset: date
    instead: str

    def __post_init__(self) -> None:
        if self.sunset - self.since < LEAST_NOTICE:
            raise ValueError(f"deprecated operations stay for at least {LEAST_NOTICE.days} days")


class Operation(Struct, frozen=True, kw_only=True):
    """One method on one path (specification, section 4).

    Implied errors, such as 401 and 429, need no declaration: see `edge/rest/common_errors.py`.
    """

    method: str
    path: str
    name: str
    tag: str
    summary: str
    description: str = ""
    path_parameters: tuple[Parameter, ...] = ()
    query: type[msgspec.Struct] | None = None
    request_headers: tuple[Parameter, ...] = ()
    body: Body | None = None
    upload: Mapping[str, Media] = field(default_factory=dict)  # by media type, instead of a body
    success: Success
    dry_run: Success | None = None  # the response to a dry run, where its status differs
    unchanged: Success | None = None  # the response if what the request asks for was done before
    partial: Success | None = None  # the response if only a part of it is done
    errors: tuple[ErrorResponse, ...] = ()
    links: tuple[Link, ...] = ()
    referenced: tuple[type, ...] = ()  # types that the document's schemas reference by name
    sample: Sample = Sample()
    public: bool = False
    for_applications: bool = False  # for applications, which authenticate with OAuth client credentials
    rate_limited: bool = True
    cacheable: bool = False
    key_scopes: tuple[KeyScope, ...] = ()  # of the customers' API: a key needs one of them
    scope: str = ""  # of the back office: what a service token needs, such as `orders:write`
    other_scopes: tuple[str, ...] = ()  # admit too; the handler checks which scope the request needs
    deprecation: Deprecation | None = None
    roles: tuple[str, ...] = ()  # the staff's roles, where they are not those of the scope


class Endpoint(Struct, frozen=True):
    """An operation and its handler."""

    operation: Operation
    handler: Handler


def endpoint(operation: Operation) -> Callable[[Method], Method]:
    """Mark a method of an endpoint class as the handler of an operation."""

    def mark(method: Method) -> Method:
        setattr(method, _MARK, operation)
        return method

    return mark


def operation_of(member: object) -> Operation | None:
    """Return the operation of a method of an endpoint class; None for another member."""
    operation: Operation | None = getattr(member, _MARK, None)
    return operation


def with_page(show_page: Method) -> Callable[[Method], Method]:
    """Mark the handler of a form as that of a second operation too: `show_page`, the handler of the form's page."""

    def mark(method: Method) -> Method:
        setattr(method, _PAGE, show_page)
        return method

    return mark


def endpoints_of(group: object) -> Iterator[Endpoint]:
    """Yield the endpoints among an object's methods, in the order of their definitions."""
    for operation, handler in handlers_of(type(group)):
        yield Endpoint(operation, MethodType(handler, group))


def operations_of(group: type) -> Iterator[Operation]:
    """Yield the operations of a class of endpoints."""
    for operation, _ in handlers_of(group):
        yield operation


def handlers_of(group: type) -> Iterator[tuple[Operation, Callable[..., Any]]]:
    """Yield the operations of a class of endpoints with the functions that handle them."""
    for member in vars(group).values():
        handlers: tuple[Any, ...] = (getattr(member, _PAGE, None), member)
        for handler in handlers:
            if (operation := operation_of(handler)) is not None:
                yield operation, handler


ANY_ADDRESS = "https://base-address.invalid"  # in generated documents; replaced in each response (RFC 2606)
EXAMPLE_ADDRESS = "https://api.example"  # in hand-written examples
