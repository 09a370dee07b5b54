"""Describing an endpoint: routing, validation, the interface document and the samples follow from one description."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
from starlette.responses import Response

from tradecounter.rest.call import Call
from tradecounter.rest.negotiation import JSON
from tradecounter.rest.responses import Error

Handler = Callable[[Call], Awaitable[Response]]
Method = TypeVar("Method", bound=Callable[..., Awaitable[Response]])
Schema = Mapping[str, Any]
Examples = Mapping[str, Any]  # by what they show

_MARK = "__operation__"

TEXT: Schema = {"type": "string", "minLength": 1}
ID: Schema = {"type": "integer", "format": "int64", "minimum": 1}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the path, or a request header."""

    name: str
    description: str
    schema: Schema
    example: str | int
    takes_slashes: bool = False  # of a path: it is the whole rest, since encoded slashes arrive decoded


@dataclass(frozen=True, slots=True)
class Header:
    """A response header; `always`: every response that declares it has it."""

    name: str
    description: str
    schema: Schema
    example: str | int
    always: bool = False


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a request."""

    type: type[msgspec.Struct]
    examples: Examples
    media_type: str = JSON
    required: bool = True


@dataclass(frozen=True, slots=True)
class Media:
    """A body in another media type than JSON."""

    schema: Schema
    examples: Examples = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Link:
    """Another operation whose successful response leads here: what it has for this one's parameters and body.

    Values are runtime expressions of OpenAPI.
    """

    source: str
    description: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Success:
    """The response when all is well; `body` is the type of its JSON body."""

    status: int
    description: str
    body: Any = None
    examples: Examples = field(default_factory=dict)
    media_types: Mapping[str, Media] = field(default_factory=dict)
    headers: tuple[Header, ...] = ()


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """An error. The example is the message of a general error, else the body; without a type, the body is `{}`.

    Errors with a name are shared: the interface document describes them once.
    """

    status: int
    description: str
    example: Any
    headers: tuple[Header, ...] = ()
    name: str = ""
    body: Any = Error
    counted: bool = True  # sent after the request was counted: with the headers of the rate limit


@dataclass(frozen=True, slots=True)
class Sample:
    """What a sample in the reference sends besides the examples.

    `after` names an operation that is sent first, with `first_body` or else its first example; its response has the
    parameters, as a link says.
    """

    query: Mapping[str, str] = field(default_factory=dict)
    after: str = ""
    first_body: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method on one path (specification, section 4).

    Errors that follow from the rest, such as 401 and 429, need no declaration: see `rest/common_errors.py`.
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
    success: Success
    errors: tuple[ErrorResponse, ...] = ()
    links: tuple[Link, ...] = ()
    referenced: tuple[type, ...] = ()  # types that schemas refer to by name
    sample: Sample = Sample()
    public: bool = False
    for_applications: bool = False  # they authenticate with OAuth client credentials
    rate_limited: bool = True
    cacheable: bool = False


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An operation and the function that carries it out."""

    operation: Operation
    handler: Handler


def endpoint(operation: Operation) -> Callable[[Method], Method]:
    """Mark a method of an endpoint class as carrying out an operation."""

    def mark(method: Method) -> Method:
        setattr(method, _MARK, operation)
        return method

    return mark


def endpoints_of(group: object) -> Iterator[Endpoint]:
    """Yield the endpoints among an object's methods, in the order in which its class defines them."""
    for name, member in vars(type(group)).items():
        operation = getattr(member, _MARK, None)
        if operation is not None:
            yield Endpoint(operation, getattr(group, name))
