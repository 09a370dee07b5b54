"""The two sites with pages: their addresses, cookies and names, their menus, and the pages that stand at both."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import wraps
from typing import Any, ClassVar, Protocol
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.edge.pages.operation import PageOperation, may_open
from tradecounter.edge.people import Person, Site
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


SUBJECTS: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "staff": (
        ("Today", "/", "t"),
        ("Orders", "/order", "o"),
        ("Quotes", "/quote", "q"),
        ("Requests", "/request", "r"),
        ("Customers", "/customer", "c"),
        ("Products", "/product", "p"),
        ("Goods in", "/goods-in", "g"),
        ("Imports", "/import", "i"),
        ("Money", "/money", "m"),
        ("Returns", "/return", "b"),
        ("Webhooks", "/webhook", "w"),
        ("Jobs and mail", "/job", "j"),
        ("Audit", "/audit", "a"),
        ("Staff and tokens", "/staff", "s"),
    ),
    "account": (
        ("Home", "/account", "h"),
        ("Products", "/account/product", "p"),
        ("Lists", "/account/list", "l"),
        ("Orders", "/account/order", "o"),
        ("New order", "/account/new-order", "n"),
        ("Quotes", "/account/quote", "q"),
        ("Approvals", "/account/approval", "a"),
        ("Invoices", "/account/invoice", "i"),
        ("Credit", "/account/credit", "c"),
        ("Addresses", "/account/address", "d"),
        ("Users", "/account/user", "u"),
        ("Developers", "/account/developer", "k"),
    ),
}
# Pages of a subject that are not below its first page.
ALSO: Mapping[str, tuple[str, ...]] = {
    "/money": ("/invoice", "/credit-note", "/payment", "/bank-line", "/bank-file", "/vat"),
    "/staff": ("/token", "/settings"),
    "/product": (
        "/category",
        "/manufacturer",
        "/product-form",
        "/product-change",
        "/price-change",
        "/contract-price",
        "/stock-adjustment",
    ),
    "/goods-in": ("/count-sheet",),
    "/account/product": ("/account/alert",),
}
SEARCH: Mapping[str, str] = {"staff": "/search", "account": "/account/search"}


class Entry(Struct, frozen=True):
    """A subject in the menu; `is_page` means that it is the page itself, not one below it.

    A subject is listed when its page exists and the person may open it.
    """

    name: str
    path: str
    key: str
    is_current: bool
    is_page: bool


class Navigation:
    """The subjects of a site whose pages exist; and whether the site is a sandbox's, or offers keys of one."""

    def __init__(
        self, site: PageSite, operations: Iterable[Operation], *, sandbox: bool = False, offers_sandbox: bool = False
    ) -> None:
        self._site = site
        self.sandbox = sandbox
        self.offers_sandbox = offers_sandbox
        self._pages = {operation.path: operation for operation in operations if operation.method == "GET"}

    def subjects(self, person: Person, path: str) -> list[Entry]:
        """Return the subjects that a person may open; `path` is the page that is shown."""
        found = [(name, start, key) for name, start, key in SUBJECTS[self._site.name] if self.may(person, start)]
        current = max((start for _, start, _ in found if _is_below(path, start, self._site.home)), key=len, default="")
        return [Entry(name, start, key, start == current, start == path) for name, start, key in found]

    def may(self, person: Person, path: str) -> bool:
        """Return whether a page exists, by the path of its operation, and a person may open it."""
        operation = self._pages.get(path)
        return operation is not None and may_open(person, operation)

    def search(self, person: Person) -> str | None:
        """Return the path of the search, if a person may open it."""
        path = SEARCH[self._site.name]
        return path if self.may(person, path) else None

    def exists(self, path: str) -> bool:
        """Return whether there is a page."""
        return path in self._pages


def _is_below(path: str, start: str, home: str) -> bool:
    starts = (start, *ALSO.get(start, ()))
    return path in starts or (start != home and path.startswith(tuple(f"{each}/" for each in starts)))


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


# The path of the page's operation for each noun.
_PAGES = {
    "order": "/order/{reference}",
    "invoice": "/invoice/{number}",
    "credit-note": "/credit-note/{number}",
    "payment": "/payment/{id}",
    "bank-line": "/bank-line/{id}",
    "bank-file": "/bank-file/{id}",
    "customer": "/customer/{id}",
    "product": "/product/{sku}",
    "quote": "/quote/{code}",
    "return": "/return/{number}",
    "import": "/import/{id}",
    "webhook": "/webhook/{id}",
}


def path_of_subject(subject: str, may: Callable[[str], bool]) -> str:
    """Return the path of a subject's page; empty if there is none that the person may open."""
    noun, _, name = subject.partition("/")
    operation = _PAGES.get(noun)
    if operation is None or not name or not may(operation):
        return ""
    return f"/{noun}/{quote(name, safe='')}"
