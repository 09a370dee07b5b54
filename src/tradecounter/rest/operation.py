"""Describing an endpoint: one description drives routing, validation and the interface document."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
from starlette.responses import Response

from tradecounter.rest.call import Call

Handler = Callable[[Call], Awaitable[Response]]
Method = TypeVar("Method", bound=Callable[..., Awaitable[Response]])

_MARK = "__operation__"

# Creating orders and quotes is never refused for its rate (specification, section 8).
_NEVER_LIMITED = {("POST", "/order"), ("POST", "/quote")}


@dataclass(frozen=True, slots=True)
class Otherwise:
    """Another status of a response whose body has the same type: what it means, and an example of the body."""

    meaning: str
    example: Any


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful answer: status, what it means, the type of its JSON body and its further media types.

    `otherwise` are further statuses with the same type of body; they carry `Retry-After`.
    """

    status: int
    meaning: str
    body: Any = None
    csv: bool = False
    yaml: bool = False
    pdf: bool = False
    headers: tuple[str, ...] = ()
    otherwise: Mapping[int, Otherwise] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method on one path (specification, section 4)."""

    method: str
    path: str
    name: str
    tag: str
    summary: str
    description: str = ""
    query: type[msgspec.Struct] | None = None
    request_headers: tuple[str, ...] = ()
    body: type[msgspec.Struct] | None = None
    body_required: bool = True
    form: type[msgspec.Struct] | None = None
    answer: Answer
    errors: tuple[int, ...] = ()
    meanings: Mapping[int, str] = field(default_factory=dict)  # of refusals, where the general words say too little
    public: bool = False
    for_applications: bool = False  # they say who they are as OAuth has it, and are refused in its words
    cacheable: bool = False

    @property
    def rate_limited(self) -> bool:
        """Whether requests count against the customer's rate limit."""
        return not self.public and (self.method, self.path) not in _NEVER_LIMITED


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
