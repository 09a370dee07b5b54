"""The menus of the two sites: their subjects, and which of them a person may open."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from tradecounter.edge.pages.operation import may_open
from tradecounter.edge.pages.page_site import PageSite
from tradecounter.edge.people import Person
from tradecounter.edge.rest.operation import Operation

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
    """A subject in the menu; `is_page` is whether it is the shown page itself, not one above it.

    A subject is listed if its page exists and the person may open it.
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
        entries = [(name, start, key) for name, start, key in SUBJECTS[self._site.name] if self.may(person, start)]
        current = max(
            (start for _, start, _ in entries if _is_below(path, start, self._site.home)), key=len, default=""
        )
        return [Entry(name, start, key, start == current, start == path) for name, start, key in entries]

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
