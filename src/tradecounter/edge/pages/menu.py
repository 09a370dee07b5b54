"""The menu of a site: its subjects, and which of them a person may open."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from tradecounter.edge.pages.operation import may_open
from tradecounter.edge.pages.page_site import PageSite
from tradecounter.edge.people import Person
from tradecounter.edge.rest.operation import Operation


class Menu(Struct, frozen=True, kw_only=True):
    """The menu of a site: each subject with its name, its first page and its key; and the page of the search.

    `also` are the pages of a subject that are not below its first page, by the path of that one. `records` are the
    pages of what the audit log and events name, such as `order/ORD-100001`: the path of the operation by the noun.
    """

    subjects: Sequence[tuple[str, str, str]]
    also: Mapping[str, Sequence[str]]
    search: str
    records: Mapping[str, str] = MappingProxyType({})


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
        self,
        site: PageSite,
        menu: Menu,
        operations: Iterable[Operation],
        *,
        sandbox: bool,
        offers_sandbox: bool,
    ) -> None:
        self._site = site
        self.menu = menu
        self.sandbox = sandbox
        self.offers_sandbox = offers_sandbox
        self._pages = {operation.path: operation for operation in operations if operation.method == "GET"}
        self._patterns: dict[int, list[tuple[re.Pattern[str], str]]] = defaultdict(list)  # by the number of words
        for path in sorted(self._pages, key=lambda path: path.count("{")):
            self._patterns[path.count("/")].append((re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), path))

    def subjects(self, person: Person, path: str) -> list[Entry]:
        """Return the subjects that a person may open; `path` is the page that is shown."""
        entries = [(name, start, key) for name, start, key in self.menu.subjects if self.may(person, start)]
        current = max((start for _, start, _ in entries if self._is_below(path, start)), key=len, default="")
        return [Entry(name, start, key, start == current, start == path) for name, start, key in entries]

    def may(self, person: Person, path: str) -> bool:
        """Return whether a page exists, by the path of its operation, and a person may open it."""
        operation = self._pages.get(path)
        return operation is not None and may_open(person, operation)

    def operation_at(self, path: str) -> str:
        """Return the path of the operation whose page is at a path: of several, the one with fewest parameters."""
        return next((found for pattern, found in self._patterns[path.count("/")] if pattern.fullmatch(path)), path)

    def _is_below(self, path: str, start: str) -> bool:
        starts = (start, *self.menu.also.get(start, ()))
        return path in starts or (start != self._site.home and path.startswith(tuple(f"{each}/" for each in starts)))
