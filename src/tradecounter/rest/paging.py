"""Paging: which slice of a list is asked for, and the headers that say where it stands (specification, section 1)."""

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote

from msgspec import Meta

from tradecounter.rest.parameters import Pair

DEFAULT_LIMIT = 100
MOST_ON_A_PAGE = 500
LAST_PAGE = 2**53 - 1  # what larger numbers are read as (`rest/parameters.py`)

_QUERY_SAFE = "%+,:/?@!$'()*;=~-._"  # what may stand in a query as it is; `%` because values are as sent

PageNumber = Annotated[
    int,
    Meta(
        ge=1, le=LAST_PAGE, description="The page, counted from 1, which is the default; one beyond the end is empty."
    ),
]
PageLimit = Annotated[
    int,
    Meta(
        ge=0,
        le=MOST_ON_A_PAGE,
        description="Results on a page: 100 by default, at most 500; 0 returns everything in one answer.",
    ),
]

HEADERS = ("X-Total-Count", "X-Page", "X-Limit", "X-Total-Pages", "Link")


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


def page_headers(page: Page, total: int, url: str, pairs: list[Pair]) -> dict[str, str]:
    """Return the paging headers of an answer.

    `url` is the absolute address without its query, `pairs` the query's parts with their values as sent; the links
    keep all of them but `page` and `limit`, in order.
    """
    pages = page.count(total)
    headers = {
        "X-Total-Count": str(total),
        "X-Page": str(page.number),
        "X-Limit": str(page.limit),
        "X-Total-Pages": str(pages),
    }
    if pages:
        kept = "".join(
            f"{quote(name, safe='')}={quote(value, safe=_QUERY_SAFE)}&"
            for name, value in pairs
            if name not in {"page", "limit"}
        )
        targets = {"first": 1, "prev": min(page.number - 1, pages), "next": page.number + 1, "last": pages}
        headers["Link"] = ", ".join(
            f'<{url}?{kept}page={target}&limit={page.limit}>; rel="{rel}"'
            for rel, target in targets.items()
            if 1 <= target <= pages
        )
    return headers
