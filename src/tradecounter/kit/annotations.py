"""Inspects structs' type annotations."""

from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from msgspec import Meta


def alternatives(annotation: Any) -> list[Any]:
    """Return a type's alternatives without annotations: `Annotated[int, …] | None` gives int and None."""
    if get_origin(annotation) is Annotated:
        return alternatives(get_args(annotation)[0])
    if get_origin(annotation) in {Union, UnionType}:
        return [option for part in get_args(annotation) for option in alternatives(part)]
    return [annotation]


def metas(annotation: Any) -> list[Meta]:
    """Return the annotations of a type and of its alternatives."""
    if get_origin(annotation) is Annotated:
        inner, *found = get_args(annotation)
        return [*metas(inner), *(meta for meta in found if isinstance(meta, Meta))]
    if get_origin(annotation) in {Union, UnionType}:
        return [meta for part in get_args(annotation) for meta in metas(part)]
    return []
