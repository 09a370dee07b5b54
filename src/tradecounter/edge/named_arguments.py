"""Passes to a function the arguments that its parameters name."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Result = TypeVar("Result")


def taking_by_name(function: Callable[..., Result]) -> Callable[..., Result]:
    """Return the function without the keyword arguments that its parameters do not name."""
    names = inspect.signature(function).parameters

    @wraps(function)
    def called(*positional: object, **offered: object) -> Result:
        return function(*positional, **{name: value for name, value in offered.items() if name in names})

    return called
