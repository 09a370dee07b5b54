"""Places the same pages at both sites."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from starlette.responses import Response

from tradecounter.edge.pages.page_site import PageSite
from tradecounter.edge.rest.operation import endpoint, operation_of

Handler = Callable[..., Awaitable[Response]]


def placed(subject: type, site: PageSite) -> type:
    """Return a subclass whose pages are below the root of a site, instead of the root of the server."""
    members: dict[str, Any] = {}
    for name, member in vars(subject).items():
        operation = operation_of(member)
        if operation is not None:
            path = site.root + operation.path
            moved = replace(operation, path=path, name=f"{operation.method} {path}")
            members[name] = endpoint(moved)(_copy(member))
    return type(f"{site.name.title()}{subject.__name__}", (subject,), members)


def _copy(handler: Handler) -> Handler:
    @wraps(handler)
    async def copy(*given: Any) -> Response:
        return await handler(*given)

    return copy
