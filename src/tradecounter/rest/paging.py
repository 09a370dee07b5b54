"""Paging: the requested page of a list, and its headers (specification, section 1)."""

from collections.abc import Collection
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
MOST_LINK_BYTES = 2_500  # all other headers need less than 1,000; a proxy may limit the whole head to 4 KB

_QUERY_SAFE = "%+,:/?@!$'()*;=~-._"  # not escaped in a query; `%` because values stay as sent

PageNumber = Annotated[
    int,
    Meta(
        ge=1,
        description="The page number, starting at 1 (default). A page after the last one is empty.",
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
    """A requested page: its number, starting at 1, and the results per page (0: all results, on page 1)."""

    number: int
    limit: int

    def bounds(self, total: int) -> tuple[int, int]:
        """Return the page's start and end within `total` results; they are equal if the page is empty."""
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
        """Return the page's cost in requests: one per 500 results, at least one."""
        start, end = self.bounds(total)
        return max(1, -(-(end - start) // MOST_ON_A_PAGE))


@dataclass(frozen=True)
class PageLinks:
    """The links from a page to other pages; `url` is the list's URL without the query."""

    url: str
    page: Page
    pages: int

    @cached_property
    def short_header(self) -> str | None:
        """The `Link` header for an empty query, which most requests have."""
        return self.header("")

    def header(self, query: str) -> str | None:
        """Return the `Link` header with the existing pages, or None without any; `query` comes from `linked_query`.

        With a long query, omits links until the header fits into a proxy's 4 KB: `first`, then `last`, `prev`, `next`.
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


def linked_query(pairs: list[Pair], left_out: Collection[str] = ("page", "limit")) -> str:
    """Return a query for links: without some parameters, with values as sent, and with `&` at its end."""
    return "".join(
        f"{quote(name, safe='')}={quote(value, safe=_QUERY_SAFE)}&" for name, value in pairs if name not in left_out
    )


def note_size(scope: Scope, results: int) -> None:
    """Have a response that is no page of a list counted by its size."""
    scope[_REQUESTS] = Page(1, 0).requests(results)


def page_headers(call: Call, page: Page, total: int) -> dict[str, str]:
    """Return the paging headers of a response, and record its links and request count in the scope."""
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


def next_link(call: Call, after: int) -> dict[str, str]:
    """Return the `Link` header to the next page of a list that is read by its parameter `after`."""
    query = linked_query(raw_pairs(call.raw_query), ("after",))
    header = f'<{call.base_url}{call.target[1]}?{query}after={after}>; rel="next"'
    return {"Link": header} if len(header) <= MOST_LINK_BYTES else {}


def links_noted(scope: Scope) -> PageLinks | None:
    """Return the links that `page_headers` recorded, or None."""
    links: PageLinks | None = scope.get(_LINKS)
    return links


def requests_noted(scope: Scope) -> int:
    """Return the response's cost in requests: 1 unless `page_headers` recorded more."""
    requests: int = scope.get(_REQUESTS, 1)
    return requests
