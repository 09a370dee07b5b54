"""Paging: which slice of a list is asked for, and the headers that say where it stands (specification, section 1)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated
from urllib.parse import quote

from msgspec import Meta
from starlette.types import Scope

from tradecounter.rest.call import Call
from tradecounter.rest.parameters import Pair, raw_pairs

DEFAULT_LIMIT = 100
MOST_ON_A_PAGE = 500
MOST_LINK_BYTES = 2_500  # all other headers together are under 1,000, and the whole head has to stay under 4 KB

_QUERY_SAFE = "%+,:/?@!$'()*;=~-._"  # what may stand in a query as it is; `%` because values are as sent

PageNumber = Annotated[
    int,
    Meta(
        ge=1,
        description="The number of the page, from 1, which is the default. A page beyond the last one is empty.",
        examples=[1],
        extra_json_schema={"format": ""},  # any number of digits
    ),
]
PageLimit = Annotated[
    int,
    Meta(
        ge=0,
        le=MOST_ON_A_PAGE,
        description="Results per page: 100 by default, at most 500. 0 returns all results in one response.",
        examples=[20],
    ),
]

_LINKS = "tradecounter.page_links"
_REQUESTS = "tradecounter.requests"
_LEFT_OUT = ('"first"', '"last"', '"prev"', '"next"')

COUNTED_BY_SIZE = (
    f"A response with more than {MOST_ON_A_PAGE} results counts as several requests against the rate limit: "
    f"one per {MOST_ON_A_PAGE} results."
)


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list: its number from 1, and how many results it holds (0: all of them, on page 1)."""

    number: int
    limit: int

    def bounds(self, total: int) -> tuple[int, int]:
        """Return the start and the end of the page within `total` results; equal when it is empty."""
        if self.limit == 0:
            return (0, total) if self.number == 1 else (total, total)
        start = min((self.number - 1) * self.limit, total)
        return start, min(start + self.limit, total)

    def count(self, total: int) -> int:
        """Return the number of pages."""
        if self.limit == 0:
            return min(total, 1)
        return -(-total // self.limit)

    def requests(self, total: int) -> int:
        """Return how many requests the page counts as: one for every 500 results on it, and at least one."""
        start, end = self.bounds(total)
        return max(1, -(-(end - start) // MOST_ON_A_PAGE))


@dataclass(frozen=True)
class PageLinks:
    """Where a page stands among others; `url` is its absolute address without the query."""

    url: str
    page: Page
    pages: int

    @cached_property
    def short_header(self) -> str | None:
        """The `Link` header where the links keep nothing of the query, as for most requests."""
        return self.header("")

    def header(self, query: str) -> str | None:
        """Return the `Link` header with the pages that exist; `query` is what the links keep (`linked_query`).

        With a long query it leaves out links, `first` before `last` before `prev` before `next`, until it is short
        enough for a proxy that takes 4 KB of headers; None when nothing is left.
        """
        if not self.pages:
            return None
        number, limit = self.page.number, self.page.limit
        before, after = f"<{self.url}?{query}page=", f"&limit={limit}>; rel="
        links = [f'{before}1{after}"first"']
        if number > 1:
            links.append(f'{before}{min(number - 1, self.pages)}{after}"prev"')
        if number < self.pages:
            links.append(f'{before}{number + 1}{after}"next"')
        links.append(f'{before}{self.pages}{after}"last"')
        header = ", ".join(links)
        for rel in _LEFT_OUT:
            if len(header) <= MOST_LINK_BYTES:
                break
            links = [link for link in links if not link.endswith(rel)]
            header = ", ".join(links)
        return header or None


def linked_query(pairs: list[Pair]) -> str:
    """Return the part of a query that links keep: all but `page` and `limit`, in order, with values as sent."""
    return "".join(
        f"{quote(name, safe='')}={quote(value, safe=_QUERY_SAFE)}&"
        for name, value in pairs
        if name not in {"page", "limit"}
    )


def page_headers(call: Call, page: Page, total: int) -> dict[str, str]:
    """Return the paging headers of the response to a call, and note what else depends on the page."""
    links = PageLinks(call.base_url + call.target[1], page, page.count(total))
    call.request.scope[_LINKS] = links
    call.request.scope[_REQUESTS] = page.requests(total)
    headers = {
        "X-Total-Count": str(total),
        "X-Page": str(page.number),
        "X-Limit": str(page.limit),
        "X-Total-Pages": str(links.pages),
    }
    link = links.header(linked_query(raw_pairs(call.raw_query)))
    return headers if link is None else {**headers, "Link": link}


def links_noted(scope: Scope) -> PageLinks | None:
    """Return what the `Link` header of a response is made from; None unless `page_headers` made its headers."""
    links: PageLinks | None = scope.get(_LINKS)
    return links


def requests_noted(scope: Scope) -> int:
    """Return how many requests a response counts as: 1 unless `page_headers` found more."""
    requests: int = scope.get(_REQUESTS, 1)
    return requests
