"""Lists orders as JSON or CSV: a page in one response, a longer list in batches (docs/adr/0018)."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from datetime import datetime
from itertools import chain

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray
from starlette.responses import Response

from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.chunked_response import ChunkedResponse
from tradecounter.edge.rest.negotiation import CSV, JSON, Format, attachment
from tradecounter.edge.rest.paging import DEFAULT_LIMIT, Page, linked, page_headers
from tradecounter.kit import csv_text
from tradecounter.kit.clock import Clock
from tradecounter.orders.fulfilled import Fulfilled, FulfilmentReader
from tradecounter.orders.lines import OrderLine, products_of
from tradecounter.orders.present import CSV_HEADER, order_as_csv, order_as_json
from tradecounter.orders.queries.lines import lines_of
from tradecounter.orders.queries.order_lists import OrderListFilter, list_orders, listed_orders
from tradecounter.orders.states import NumberedOrder
from tradecounter.storefront.refreshable_views import RefreshableViews
from tradecounter.storefront.view import CustomerView

Numbers = NDArray[np.int64]

_MOST_ORDERS = DEFAULT_LIMIT  # in a batch
_MOST_LINES = 500  # in a batch; the last order may exceed the limit
_ORDERS_AT_A_TIME = 10  # encoded at a time, in about a millisecond; then other requests run
_NO_END = 2**62  # beyond any number of orders, within the bigint range


class Layout(Struct, frozen=True):
    """The format of a list: its opening, separator and closing, and the function that encodes an order."""

    format: Format
    media_type: str
    opening: bytes
    separator: bytes
    closing: bytes
    order: Callable[[NumberedOrder, Sequence[OrderLine], Fulfilled, CustomerView, datetime], bytes]


LAYOUTS: Mapping[Format, Layout] = {
    JSON: Layout(JSON, JSON, b"[", b",", b"]", order_as_json),
    CSV: Layout(CSV, csv_text.MEDIA_TYPE, CSV_HEADER, b"", b"", order_as_csv),
}


class _Batch(Struct, frozen=True):
    """Consecutive orders at one moment, with their lines and fulfilment by internal id."""

    orders: Sequence[NumberedOrder] = ()
    lines: Mapping[int, list[OrderLine]] = field(default_factory=dict)
    fulfilled: Mapping[int, Fulfilled] = field(default_factory=dict)


class OrderLister(Struct, frozen=True):
    """Lists one customer's orders in one format."""

    database: Database
    views: RefreshableViews
    fulfilment: FulfilmentReader
    clock: Clock
    customer_id: int
    layout: Layout

    async def respond(self, call: Call, wanted: OrderListFilter, page: Page, lock: asyncio.Lock) -> Response:
        """Return a page of the confirmed orders that match a filter, the latest confirmed first.

        The order numbers are read now; each order has its state when its batch is read. Batches are read under `lock`,
        so all long lists of a customer share one database connection.
        """
        start, end = page.bounds(_NO_END)
        async with reading(self.database) as tx:
            listed = await list_orders(tx, self.customer_id, wanted, start, end)
            batch = await self._read(tx, listed.numbers)
        left = listed.numbers[len(batch.orders) :]
        text = await self._encode(batch)
        headers = page_headers(call, page, listed.total) | attachment(call.accept, self.layout.format, "orders")
        media_type = self.layout.media_type
        if not len(left):
            body = self.layout.opening + text + self.layout.closing
            return linked(call, Response(body, headers=headers, media_type=media_type))
        return linked(call, ChunkedResponse(self._pieces(text, left), lock, headers=headers, media_type=media_type))

    async def _pieces(self, first: bytes, left: Numbers) -> AsyncGenerator[bytes, None]:
        yield self.layout.opening + first
        while len(left):
            count, text = await self._next(left)
            left = left[count:]
            yield self.layout.separator + text
        yield self.layout.closing

    async def _next(self, left: Numbers) -> tuple[int, bytes]:
        """Return the next batch's size and text. While a slow client reads, only the text is in memory."""
        async with reading(self.database) as tx:
            batch = await self._read(tx, left)
        return len(batch.orders), await self._encode(batch)

    async def _read(self, tx: Transaction, numbers: Numbers) -> _Batch:
        wanted = numbers[:_MOST_ORDERS].tolist()
        if not wanted:
            return _Batch()
        orders = await listed_orders(tx, self.customer_id, wanted, _MOST_LINES)
        ids = [order.id for order in orders]
        return _Batch(orders, await lines_of(tx, ids), await self.fulfilment.of_orders(tx, ids))

    async def _encode(self, batch: _Batch) -> bytes:
        view = await self.views.showing(self.customer_id, products_of(chain.from_iterable(batch.lines.values())))
        encoded = []
        for number, order in enumerate(batch.orders, start=1):
            encoded.append(
                self.layout.order(order, batch.lines[order.id], batch.fulfilled[order.id], view, self.clock.now())
            )
            if number % _ORDERS_AT_A_TIME == 0:
                await asyncio.sleep(0)
        return self.layout.separator.join(encoded)
