"""Inspects structs' type annotations."""

from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin


def alternatives(annotation: Any) -> list[Any]:
    """Return a type's alternatives without annotations: `Annotated[int, …] | None` gives int and None."""
    if get_origin(annotation) is Annotated:
        return alternatives(get_args(annotation)[0])
    if get_origin(annotation) in {Union, UnionType}:
        return [option for part in get_args(annotation) for option in alternatives(part)]
    return [annotation]
