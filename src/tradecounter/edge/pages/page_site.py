"""The two sites with pages: their addresses, cookies and names; and pages that both have."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, ClassVar, Protocol

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.edge.pages.operation import PageOperation
from tradecounter.edge.people import Site
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import Operation, endpoint, handlers_of
from tradecounter.settings import Settings


class PageSite(Struct, frozen=True):
    """A site with pages. Paths begin below the site's base URL."""

    name: Site
    title: str
    home: str
    cookie: str
    flash_cookie: str

    @property
    def root(self) -> str:
        """The path that the paths of all pages begin with."""
        return "" if self.home == "/" else self.home

    @property
    def sign_in(self) -> str:
        """The page at which a person signs in; its parameter `next` is where to go then."""
        return f"{self.root}/sign-in"

    @property
    def ask_again(self) -> str:
        """The page that asks for the password again, with `next` as above."""
        return f"{self.root}/sign-in/again"

    @property
    def sign_out(self) -> str:
        """Where the form that signs out is sent."""
        return f"{self.root}/sign-out"

    @property
    def sign_ins(self) -> str:
        """The page of a person's own sign-ins, password and second factor."""
        return f"{self.root}/sign-ins"


# Ports share a cookie jar, so the names differ. `__Host-` cookies are for the whole host and never sent by another.
BACK_OFFICE = PageSite("staff", "Back office", "/", "__Host-tradecounter-staff", "__Host-tradecounter-staff-flash")
ACCOUNT = PageSite(
    "account", "Your account", "/account", "__Host-tradecounter-account", "__Host-tradecounter-account-flash"
)
DEVELOPER_HOME = "/account/developer"
Handler = Callable[..., Awaitable[Response]]


class SharedParts(Protocol):
    """The parts of either site that pages of both use."""

    @property
    def settings(self) -> Settings:
        """The settings."""


class BothSites:
    """Pages of both sites, such as those that staff have for all customers and a customer for itself.

    `placed` makes the class of each site. Their operations have the rights of both sites: `scope` and `roles` for
    staff, `user_roles` for customers' users.
    """

    root: ClassVar[str] = ""  # what the paths of the pages begin with at the site
    site: ClassVar[PageSite]

    def owner(self, call: Call) -> int | None:
        """Return the customer whose records a request may see; None for staff, who see all."""
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
