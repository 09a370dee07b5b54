"""Paging: the requested page of a list, and its headers (specification, section 1)."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import quote

from msgspec import Meta, Struct
from starlette.responses import Response
from starlette.types import Scope

from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.parameters import ANY_SIZE, Pair, raw_pairs
from tradecounter.kit.errors import DomainError, Kind

DEFAULT_LIMIT = 100
MOST_ON_A_PAGE = 500
MOST_HEAD_BYTES = 16 * 1024  # of a response; the proxies' files in deploy/ allow it
MOST_LINK_BYTES = MOST_HEAD_BYTES - 2_560  # all other headers need less than the rest
_MOST_IN_A_FIELD = 8_000  # bytes; some programs limit a line
_MOST_RELS = 4

_QUERY_SAFE = "%+,:/?@!$'()*;=~-._"  # not escaped in a query; `%` because values stay as sent

PageNumber = Annotated[
    int,
    Meta(
        ge=1,
        description="The page number, starting at 1 (default). A page after the last one is empty.",
        examples=[1],
        extra_json_schema=ANY_SIZE,
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

COUNTED_BY_SIZE = (
    f"A response with more than {MOST_ON_A_PAGE} results counts as several requests against the rate limit: "
    f"one per {MOST_ON_A_PAGE} results."
)


class Page(Struct, frozen=True):
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
    def short_fields(self) -> list[str]:
        """The `Link` fields for an empty query, which most requests have."""
        return self.fields("")

    def fields(self, query: str) -> list[str]:
        """Return the `Link` fields with all pages that exist; `query` comes from `linked_query`.

        Raises DomainError (query too long).
        """
        self.require_room(query)
        if not self.pages:
            return []
        number = self.page.number
        before, after = self._around(query)
        links = [f'{before}1{after}"first"']
        if number > 1:
            links.append(f'{before}{min(number - 1, self.pages)}{after}"prev"')
        if number < self.pages:
            links.append(f'{before}{number + 1}{after}"next"')
        links.append(f'{before}{self.pages}{after}"last"')
        field = ", ".join(links)
        return [field] if len(field) <= _MOST_IN_A_FIELD else links  # RFC 9110, section 5.3

    def require_room(self, query: str) -> None:
        """Raise DomainError (query too long) if the links of any page of the list do not fit.

        So no link leads to this error.
        """
        if self.pages and query:
            before, after = self._around(query)
            rels = min(max(self.pages, 2 if self.page.number > 1 else 1) + 1, _MOST_RELS)
            _require_room(query, f'{before}{self.pages}{after}"first"', rels)

    def _around(self, query: str) -> tuple[str, str]:
        return f"<{self.url}?{query}page=", f"&limit={self.page.limit}>; rel="


def _require_room(query: str, link: str, count: int) -> None:
    """Raise DomainError (query too long) if `count` links of this length do not fit into a response's head."""
    most = MOST_LINK_BYTES // count - len("Link: \r\n")
    if len(link) > most:
        raise DomainError(
            Kind.QUERY_TOO_LONG,
            f"the query is too long: Link repeats it in up to {count} links, and a response has at most "
            f"{MOST_HEAD_BYTES} bytes of headers; the query may have {max(most - len(link) + len(query), 0)} bytes "
            "here, percent-encoded",
        )


def linked_query(pairs: list[Pair], left_out: Collection[str] = ("page", "limit")) -> str:
    """Return a query for links: without some parameters, with values as sent, and with `&` at its end."""
    return "".join(
        f"{quote(name, safe='')}={quote(value, safe=_QUERY_SAFE)}&" for name, value in pairs if name not in left_out
    )


def note_size(scope: Scope, results: int) -> None:
    """Count a response that is no page of a list by its size."""
    scope[_REQUESTS] = Page(1, 0).requests(results)


def note_page(call: Call, page: Page, total: int) -> dict[str, str]:
    """Return the paging headers of a response but `Link`, and record its links and request count in the scope."""
    links = PageLinks(call.base_url + call.target[1], page, page.count(total))
    call.request.scope[_LINKS] = links
    call.request.scope[_REQUESTS] = page.requests(total)
    return {
        "X-Total-Count": str(total),
        "X-Page": str(page.number),
        "X-Limit": str(page.limit),
        "X-Total-Pages": str(links.pages),
    }


def page_headers(call: Call, page: Page, total: int) -> dict[str, str]:
    """Return and record as `note_page` does, before the page is read. Raises DomainError (query too long)."""
    headers = note_page(call, page, total)
    call.request.scope[_LINKS].require_room(_query_of(call))
    return headers


def linked(call: Call, response: Response) -> Response:
    """Add the `Link` fields of the page that was recorded to a 200. Raises DomainError (query too long)."""
    if response.status_code == HTTPStatus.OK and (links := links_noted(call.request.scope)) is not None:
        for field in links.fields(_query_of(call)):
            response.headers.append("Link", field)
    return response


def _query_of(call: Call) -> str:
    return linked_query(raw_pairs(call.raw_query))


def next_link(call: Call, after: Any, limit: int | None = None) -> dict[str, str]:
    """Return the `Link` header to the next page of a list that is read by its parameter `after`.

    `limit` replaces that of the query. Raises DomainError (query too long).
    """
    left_out, size = (("after",), "") if limit is None else (("after", "limit"), f"&limit={limit}")
    query = linked_query(raw_pairs(call.raw_query), left_out)
    link = f'<{call.base_url}{call.target[1]}?{query}after={quote(str(after), safe="")}{size}>; rel="next"'
    _require_room(query, link, 1)
    return {"Link": link}


def links_noted(scope: Scope) -> PageLinks | None:
    """Return the links of the page that was recorded, or None."""
    links: PageLinks | None = scope.get(_LINKS)
    return links


def requests_noted(scope: Scope) -> int:
    """Return the response's cost in requests: 1 unless more were recorded."""
    requests: int = scope.get(_REQUESTS, 1)
    return requests
