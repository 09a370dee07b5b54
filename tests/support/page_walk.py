"""A walk through all pages that a person reaches by links, as far as every kind of page is seen."""

import heapq
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx2

from support.markup import Markup, markup_of
from support.page_routes import path_of, shown_paths
from support.pages import Person

_NEVER = ("/sign-out",)
_FORM = "a form"  # need not have a page at the address to which it is sent


@dataclass
class Seen:
    """A page at an address, which begins with its path."""

    address: str
    response: httpx2.Response

    @property
    def markup(self) -> Markup:
        return markup_of(self.response.text, self.address)

    @property
    def is_html(self) -> bool:
        return self.response.headers.get("Content-Type", "").startswith("text/html")


@dataclass
class Walk:
    """What a person has seen: pages by the path of their operation, and links to nowhere."""

    person: Person
    pages: dict[str, list[Seen]] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    @property
    def pages_seen(self) -> list[Seen]:
        return [seen for pages in self.pages.values() for seen in pages]

    def one(self, path: str) -> str:
        """An address of a page."""
        return self.pages[path][0].address


def walk(person: Person, *, least: int = 1, each: int = 1) -> Walk:
    """Follow links from the home page to `least` pages of each kind, rarely seen kinds first.

    While links to some kind of page are missing, up to `each` of a kind are opened in search of it.
    """
    found = Walk(person)
    waiting = _Waiting(person)
    waiting.add(person.site.home, "the beginning")
    missing = set(shown_paths(person.site))
    while (following := waiting.next(lambda: each if missing else least)) is not None:
        kind, address, origin = following
        missing.discard(kind)
        response = person.get(address)
        if response.status_code not in {200, 303}:
            if origin != _FORM:
                found.broken.append(f"{origin} leads to {address}: {response.status_code}")
            continue
        seen = Seen(address, response)
        found.pages.setdefault(kind, []).append(seen)
        for link in _links(seen):
            waiting.add(link, address)
        for action in _actions(seen):
            if path_of(person.site, action) is not None:
                waiting.add(action, _FORM)
    return found


@dataclass
class _Waiting:
    """Addresses that are still to be opened, those of rarely seen kinds first."""

    person: Person
    counts: Counter[str] = field(default_factory=Counter)
    known: set[str] = field(default_factory=set)
    heap: list[tuple[int, int, str, str]] = field(default_factory=list)

    def add(self, address: str, origin: str) -> None:
        if address not in self.known and not urlsplit(address).path.startswith(_NEVER):
            self.known.add(address)
            heapq.heappush(self.heap, (self.counts[self._kind(address)], len(self.known), address, origin))

    def next(self, most: Callable[[], int]) -> tuple[str, str, str] | None:
        """The next kind, address and origin, of kinds that were not seen so often yet."""
        while self.heap:
            counted, number, address, origin = heapq.heappop(self.heap)
            kind = self._kind(address)
            if self.counts[kind] >= most():
                continue
            if self.counts[kind] > counted:
                heapq.heappush(self.heap, (self.counts[kind], number, address, origin))
                continue
            self.counts[kind] += 1
            return kind, address, origin
        return None

    def _kind(self, address: str) -> str:
        return path_of(self.person.site, address) or address


def _links(seen: Seen) -> list[str]:
    """The addresses on the same site that a page leads to, without their fragments."""
    if seen.response.status_code != 200:
        return [seen.response.headers["Location"]]
    if not seen.is_html:
        return []
    markup = seen.markup
    links = [link for link in markup.links if not urlsplit(link).netloc and not urlsplit(link).scheme]
    return [link.partition("#")[0] for link in links if link.partition("#")[0]]


def _actions(seen: Seen) -> list[str]:
    """Where the forms of a page are sent: mostly there is a page at the same address."""
    return [form.action for form in seen.markup.forms] if seen.is_html else []
