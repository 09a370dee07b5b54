"""What the signature and the docstring of a method say of its operation."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

from tradecounter.edge.operations.desk import Unchanged
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import ID, TEXT, Parameter

Method = Callable[..., Awaitable[Any]]


class InPath(Struct, frozen=True):
    """Marks a method's parameter as a path parameter: an id if `example` is an int, otherwise text.

    A value that matches nothing is a 404 that names `what`. Text may be read `in_lower_case`.
    """

    name: str
    description: str
    example: int | str
    what: str
    takes_slashes: bool = False
    in_lower_case: bool = False

    @property
    def parameter(self) -> Parameter:
        """The parameter as the interface document has it."""
        schema = ID if isinstance(self.example, int) else TEXT
        return Parameter(self.name, self.description, schema, self.example, self.takes_slashes)

    def read(self, call: Call) -> int | str:
        """Return the parameter of a request. Raises DomainError (not found)."""
        if isinstance(self.example, int):
            return call.path_id(self.name, self.what)
        found = call.path_text(self.name, self.what)
        return found.lower() if self.in_lower_case else found


class Signature(Struct, frozen=True, kw_only=True):
    """What a method says of its operation. `path` are the parameters of the path by the names that the method has."""

    name: str
    summary: str
    description: str
    path: Mapping[str, InPath]
    query: Any
    body: Any
    returns: Any
    may_be_unchanged: bool

    @classmethod
    def of(cls, method: Method) -> "Signature":
        """Return what a method says."""
        first, *paragraphs = inspect.cleandoc(method.__doc__ or "").split("\n\n")
        hints = get_type_hints(method, include_extras=True)
        returns = hints.pop("return")
        alternatives = get_args(returns) if get_origin(returns) in {Union, UnionType} else (returns,)
        bodies = [alternative for alternative in alternatives if get_origin(alternative) is not Unchanged]
        return cls(
            name=_camel_case(method.__name__),
            summary=first.removesuffix("."),
            description="\n\n".join(" ".join(paragraph.splitlines()) for paragraph in paragraphs),
            path={name: hint.__metadata__[0] for name, hint in hints.items() if get_origin(hint) is Annotated},
            query=hints.get("query"),
            body=hints.get("body"),
            returns=None if bodies[0] is NoneType else bodies[0],
            may_be_unchanged=len(bodies) < len(alternatives),
        )

    def read(self, call: Call) -> dict[str, Any]:
        """Return what a method may take of a request itself. Raises DomainError."""
        given: dict[str, Any] = {name: place.read(call) for name, place in self.path.items()}
        if self.query is not None:
            given["query"] = call.query(self.query)
        return {**given, "call": call}


def _camel_case(name: str) -> str:
    first, *more = name.split("_")
    return first + "".join(map(str.capitalize, more))
