"""The subjects in the menu of each site. A subject is listed when its page exists and the person may open it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tradecounter.edge.pages.operation import may_open
from tradecounter.edge.pages.page_site import PageSite
from tradecounter.edge.people import Person
from tradecounter.edge.rest.operation import Operation
from tradecounter.edge.session import Session

SUBJECTS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "staff": (
        ("Today", "/"),
        ("Orders", "/order"),
        ("Quotes", "/quote"),
        ("Requests", "/request"),
        ("Customers", "/customer"),
        ("Products", "/product"),
        ("Imports", "/import"),
        ("Money", "/money"),
        ("Returns", "/return"),
        ("Webhooks", "/webhook"),
        ("Jobs and mail", "/job"),
        ("Audit", "/audit"),
        ("Staff and tokens", "/staff"),
    ),
    "account": (
        ("Home", "/account"),
        ("Products", "/account/product"),
        ("Lists", "/account/list"),
        ("Orders", "/account/order"),
        ("New order", "/account/new-order"),
        ("Quotes", "/account/quote"),
        ("Approvals", "/account/approval"),
        ("Invoices", "/account/invoice"),
        ("Credit", "/account/credit"),
        ("Addresses", "/account/address"),
        ("Users", "/account/user"),
        ("Developers", "/account/developer"),
    ),
}
# Pages of a subject that are not below its first page.
ALSO: Mapping[str, tuple[str, ...]] = {
    "/money": ("/invoice", "/credit-note", "/payment", "/bank-line", "/bank-file"),
    "/staff": ("/token",),
    "/account/product": ("/account/alert",),
}
SEARCH: Mapping[str, str] = {"staff": "/search", "account": "/account/search"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A subject in the menu; `is_page` means that it is the page itself, not one below it."""

    name: str
    path: str
    is_current: bool
    is_page: bool


class Navigation:
    """The subjects of a site whose pages exist."""

    def __init__(self, site: PageSite, operations: Iterable[Operation]) -> None:
        self._site = site
        self._pages = {operation.path: operation for operation in operations if operation.method == "GET"}

    def subjects(self, person: Person, path: str) -> list[Entry]:
        """Return the subjects that a person may open; `path` is the page that is shown."""
        found = [(name, start) for name, start in SUBJECTS[self._site.name] if self.may(person, start)]
        current = max((start for _, start in found if _is_below(path, start, self._site.home)), key=len, default="")
        return [Entry(name, start, start == current, start == path) for name, start in found]

    def may(self, person: Person, path: str) -> bool:
        """Return whether a page exists, by the path of its operation, and a person may open it."""
        operation = self._pages.get(path)
        return operation is not None and may_open(person, operation)

    def search(self, session: Session) -> str | None:
        """Return the path of the search, if there is one."""
        path = SEARCH.get(self._site.name)
        return path if path is not None and self.may(session.person, path) else None

    def exists(self, path: str) -> bool:
        """Return whether there is a page."""
        return path in self._pages


def _is_below(path: str, start: str, home: str) -> bool:
    starts = (start, *ALSO.get(start, ()))
    return path in starts or (start != home and path.startswith(tuple(f"{each}/" for each in starts)))
