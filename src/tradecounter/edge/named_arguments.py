"""Passes to a function what it asks for by the names of its parameters."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Result = TypeVar("Result")


def taking_by_name(function: Callable[..., Result]) -> Callable[..., Result]:
    """Return the function so that it may be given more: keyword arguments that it does not name are left out."""
    names = inspect.signature(function).parameters

    @wraps(function)
    def called(*given: object, **offered: object) -> Result:
        return function(*given, **{name: value for name, value in offered.items() if name in names})

    return called
