"""Passes to a function the arguments that its parameters name."""

import inspect
from collections.abc import Awaitable, Callable, Collection
from functools import wraps
from inspect import Parameter
from typing import Any, TypeVar

Result = TypeVar("Result")


def taking_by_name(
    function: Callable[..., Result], names: Collection[str], *, positional: int = 1
) -> Callable[..., Result]:
    """Return the function without the keyword arguments that its parameters do not name.

    `names` are the keyword arguments that it may get, after as many arguments as are `positional`. Raises TypeError if
    it needs another one.
    """
    parameters = inspect.signature(function).parameters
    for name in [*parameters][positional:]:
        if name not in names and parameters[name].default is Parameter.empty:
            called = getattr(function, "__qualname__", repr(function))
            raise TypeError(f"{called}() takes {name!r}, but gets only {', '.join(sorted(names))}")

    @wraps(function)
    def taking(*given: object, **offered: object) -> Result:
        return function(*given, **{name: value for name, value in offered.items() if name in parameters})

    return taking


def reading_by_name(
    method: Callable[..., Awaitable[Result]], names: Collection[str]
) -> Callable[..., Awaitable[Result]]:
    """Return a method to which `tx`, `now` and the keyword arguments `names` are passed if its parameters name them.

    `tx` is a reading, which ends with the method. The method's object has the `desk` that reads and has the clock.
    """
    take = taking_by_name(method, {"tx", "now", *names})
    parameters = inspect.signature(method).parameters

    @wraps(method)
    async def reading(group: Any, **offered: Any) -> Result:
        if "now" in parameters:
            offered["now"] = group.desk.clock.now()
        if "tx" not in parameters:
            return await take(group, **offered)
        async with group.desk.reading() as tx:
            return await take(group, tx=tx, **offered)

    return reading
