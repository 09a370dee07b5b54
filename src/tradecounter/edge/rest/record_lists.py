"""Lists of a customer's records, newest first: a page in one response, a longer list in batches (docs/adr/0018)."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Generic, Protocol, TypeVar
from weakref import WeakValueDictionary

from msgspec import Struct, field
from starlette.responses import Response

from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.conditional import conditional_response
from tradecounter.edge.rest.negotiation import CSV, JSON, attachment, choose_named
from tradecounter.edge.rest.paging import (
    DEFAULT_LIMIT,
    MOST_ON_A_PAGE,
    Page,
    PageLimit,
    PageNumber,
    linked,
    page_headers,
)
from tradecounter.edge.rest.responses import ChunkedResponse
from tradecounter.kit import csv_text
from tradecounter.kit.digest import digest_of
from tradecounter.kit.json_text import to_json

Item = TypeVar("Item", bound=Struct)
Row = TypeVar("Row")
Shown_co = TypeVar("Shown_co", bound=Struct, covariant=True)

_NO_END = 2**62  # beyond any number of records, within the bigint range


class PagedList(Struct, frozen=True, kw_only=True):
    """The parameters of every list by pages."""

    page: PageNumber = 1
    limit: PageLimit = DEFAULT_LIMIT


class Records(Protocol[Row, Shown_co]):
    """A customer's records that match a filter, newest first."""

    async def count(self, tx: Transaction) -> int:
        """Return the number of records."""

    async def read(self, tx: Transaction, most: int, start: int, after: Row | None) -> Sequence[Row]:
        """Return at most `most` records from a position on, or after one of them."""

    async def shown(self, tx: Transaction, rows: Sequence[Row]) -> Sequence[Shown_co]:
        """Return records as the response has them."""


class Layout(Struct, Generic[Item], frozen=True):
    """The format of a list. A file of `name` has a column for each of `columns`, which are fields of the items."""

    name: str
    columns: Sequence[str] = ()

    def written(self, media: str, items: Sequence[Item]) -> bytes:
        """Return items as a piece of a list."""
        if media == JSON:
            return b",".join(map(to_json, items))
        return "".join(csv_text.line(self._cells(item)) for item in items).encode()

    def framed(self, media: str) -> tuple[bytes, bytes, bytes]:
        """Return the opening of a list, the separator of its pieces, and its closing."""
        return (b"[", b",", b"]") if media == JSON else (csv_text.line(self.columns).encode(), b"", b"")

    def table(self, *items: Item) -> str:
        """Return a whole file."""
        return self.framed(CSV)[0].decode() + self.written(CSV, items).decode()

    def _cells(self, item: Item) -> list[str]:
        return [csv_text.cell_of(getattr(item, name)) for name in self.columns]


class RecordLists(Struct, frozen=True):
    """Responds with lists. A customer's long lists are read one piece at a time."""

    database: Database
    locks: WeakValueDictionary[int, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    async def respond(
        self, call: Call, wanted: PagedList, records: Records[Row, Item], layout: Layout[Item]
    ) -> Response:
        """Return a page of the list, or 304 if the client has it.

        A list that is longer than a page is sent as it is read. It has no entity tag, and nothing that is added
        meanwhile. Raises DomainError (query too long).
        """
        media = choose_named(call.accept, [CSV] if layout.columns else [])
        page = Page(wanted.page, wanted.limit)
        start, end = page.bounds(_NO_END)
        async with reading(self.database) as tx:
            total = await records.count(tx)
            rows = await records.read(tx, min(end - start, MOST_ON_A_PAGE), start, None) if start < total else ()
            items = await records.shown(tx, rows)
        headers = page_headers(call, page, total) | attachment(call.accept, media, layout.name)
        media_type = csv_text.MEDIA_TYPE if media == CSV else JSON
        if len(rows) < MOST_ON_A_PAGE or end - start <= MOST_ON_A_PAGE:
            opening, _, closing = layout.framed(media)
            body = opening + layout.written(media, items) + closing
            digest = digest_of(body, to_json(headers))
            return conditional_response(
                call, digest, media_type, lambda: linked(call, Response(body, headers=headers, media_type=media_type))
            )
        lock = self.locks.setdefault(call.customer_id, asyncio.Lock())
        pieces = self._pieces(records, layout, media, rows, items)
        return linked(call, ChunkedResponse(pieces, lock, headers=headers, media_type=media_type))

    async def _pieces(
        self, records: Records[Row, Item], layout: Layout[Item], media: str, rows: Sequence[Row], items: Sequence[Item]
    ) -> AsyncGenerator[bytes, None]:
        opening, separator, closing = layout.framed(media)
        yield opening + layout.written(media, items)
        while len(rows) == MOST_ON_A_PAGE:
            async with reading(self.database) as tx:
                rows = await records.read(tx, MOST_ON_A_PAGE, 0, rows[-1])
                items = await records.shown(tx, rows)
            if rows:
                yield separator + layout.written(media, items)
        yield closing
