"""A walk through all pages that a person reaches by links, as far as every kind of page is seen."""

import heapq
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx2

from support.markup import Markup, markup_of
from support.page_routes import path_of
from support.pages import Person

_NEVER = ("/sign-out",)


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


def walk(person: Person, *, each: int = 3, most: int = 400, begin: tuple[str, ...] = ()) -> Walk:
    """Follow links from the home page, at most `each` times to the same kind of page, rarely seen kinds first."""
    found = Walk(person)
    counts: Counter[str] = Counter()
    known: set[str] = set()
    waiting: list[tuple[int, int, str, str]] = []

    def add(address: str, origin: str) -> None:
        if address in known or urlsplit(address).path.startswith(_NEVER):
            return
        known.add(address)
        kind = path_of(person.site, address) or address
        heapq.heappush(waiting, (counts[kind], len(known), address, origin))

    for start in (person.site.home, *begin):
        add(start, "the beginning")
    while waiting and sum(counts.values()) < most:
        seen_so_far, number, address, origin = heapq.heappop(waiting)
        kind = path_of(person.site, address) or address
        if counts[kind] >= each:
            continue
        if counts[kind] > seen_so_far:
            heapq.heappush(waiting, (counts[kind], number, address, origin))
            continue
        counts[kind] += 1
        response = person.get(address)
        if response.status_code not in {200, 303}:
            found.broken.append(f"{origin} leads to {address}: {response.status_code}")
            continue
        seen = Seen(address, response)
        found.pages.setdefault(kind, []).append(seen)
        for following in _links(seen):
            add(following, address)
    return found


def _links(seen: Seen) -> list[str]:
    """The addresses on the same site that a page leads to, without their fragments."""
    if seen.response.status_code != 200:
        return [seen.response.headers["Location"]]
    if not seen.is_html:
        return []
    markup = seen.markup
    links = [link for link in markup.links if not urlsplit(link).netloc and not urlsplit(link).scheme]
    return [link.partition("#")[0] for link in links if link.partition("#")[0]]
