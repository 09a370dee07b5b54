"""Places the same pages at both sites, each for those who may open them there."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, ClassVar, Protocol

from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.edge.pages.operation import PageOperation
from tradecounter.edge.pages.page_site import ACCOUNT, PageSite
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import Operation, endpoint, handlers_of
from tradecounter.settings import Settings

Handler = Callable[..., Awaitable[Response]]


class SharedParts(Protocol):
    """What pages of both sites may use of the parts of either."""

    @property
    def settings(self) -> Settings:
        """The settings."""


class BothSites:
    """Pages that staff have for all customers, and a customer for itself. `placed` makes the class of each site.

    Their operations have the rights of both sites: `scope` and `roles` for staff, `user_roles` for customers' users.
    """

    root: ClassVar[str] = ""  # what the paths of the pages begin with at the site
    site: ClassVar[PageSite]

    def owner(self, call: Call) -> int | None:
        """Return the customer whose things a request may see; None for staff, who see all."""
        return call.customer_id if self.site is ACCOUNT else None


def placed(subject: type, site: PageSite, root: str | None = None) -> type:
    """Return a subclass whose pages are below `root`, by default the root of a site."""
    root = site.root if root is None else root
    members: dict[str, Any] = {"root": root, "site": site} if issubclass(subject, BothSites) else {}
    for operation, handler in handlers_of(subject):
        here = _at(operation, site, root)
        members[here.name] = endpoint(here)(_copy(handler))
    return type(f"{site.name.title()}{subject.__name__}", (subject,), members)


def _at(operation: Operation, site: PageSite, root: str) -> Operation:
    path = root + operation.path
    moved = replace(operation, path=path, name=f"{operation.method} {path}")
    if not isinstance(moved, PageOperation):
        return moved
    return replace(moved, scope="", roles=()) if site is ACCOUNT else replace(moved, user_roles=())


def _copy(handler: Handler) -> Handler:
    @wraps(handler, updated=())
    async def copy(*given: Any) -> Response:
        return await handler(*given)

    return copy
