"""Reads the parameters of `GET /order`, and lists orders as JSON or CSV: one page, or batches (docs/adr/0018)."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Annotated, Any

import numpy as np
from msgspec import Meta, Struct, field
from numpy.typing import NDArray
from starlette.responses import Response

from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.negotiation import CSV, JSON, Accept, Format, attachment
from tradecounter.edge.rest.paging import DEFAULT_LIMIT, Page, PageLimit, PageNumber, linked, page_headers
from tradecounter.edge.rest.responses import ChunkedResponse
from tradecounter.kit import csv_text
from tradecounter.kit.clock import Clock, moment_of
from tradecounter.kit.errors import ErrorCollector, invalid
from tradecounter.kit.keys import key_form
from tradecounter.orders.fulfilled import Fulfilled
from tradecounter.orders.lines import OrderLine, products_of
from tradecounter.orders.present import CSV_HEADER, order_as_csv, order_as_json
from tradecounter.orders.queries.order_lists import OrderListFilter, list_orders, listed_orders
from tradecounter.orders.queries.orders import lines_of
from tradecounter.orders.states import NumberedOrder
from tradecounter.orders.wire import LONGEST_SKU, Reference
from tradecounter.shipments.queries.fulfilment import OrderFulfilment
from tradecounter.storefront.storefront import RefreshableViews
from tradecounter.storefront.view import CustomerView

# For the interface document only. `_moment` also rejects days that do not exist, such as 30 February.
_MOMENT: dict[str, Any] = {
    "pattern": r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$"
}
_LONGEST_QUOTED = 40


class OrderListParameters(Struct, frozen=True):
    """The query parameters of `GET /order`. Orders must match all of them."""

    accept: Accept = None
    page: PageNumber = 1
    limit: PageLimit = DEFAULT_LIMIT
    customer_reference: Annotated[
        Reference | None,
        Meta(description="Only orders with this customer reference; case does not matter.", examples=["DEMO-001"]),
    ] = None
    status: Annotated[
        Annotated[str, Meta(max_length=100)] | None,
        Meta(description="Only orders with this status; case does not matter.", examples=["Completed"]),
    ] = None
    created_from: Annotated[
        str | None,
        Meta(
            description="Only orders created at this UK local time or later.",
            examples=["2026-01-01T00:00:00"],
            extra_json_schema=_MOMENT,
        ),
    ] = None
    created_to: Annotated[
        str | None,
        Meta(
            description="Only orders created at this UK local time or earlier.",
            examples=["2099-12-31T23:59:59"],
            extra_json_schema=_MOMENT,
        ),
    ] = None
    changed_since: Annotated[
        str | None,
        Meta(
            description="Only orders changed at this UK local time or later, by their `changed_on`.",
            examples=["2026-01-01T00:00:00"],
            extra_json_schema=_MOMENT,
        ),
    ] = None
    sku: Annotated[
        Annotated[str, Meta(max_length=LONGEST_SKU)] | None,
        Meta(
            description="Only orders with this product, also in a bundle; case does not matter.",
            examples=["TH6S-0050-BLK"],
        ),
    ] = None
    tracking_number: Annotated[
        Annotated[str, Meta(max_length=100)] | None,
        Meta(
            description="Only orders with a shipment of this tracking number; case does not matter.",
            examples=["NW-4410-2265"],
        ),
    ] = None


def order_list_filter(parameters: OrderListParameters) -> OrderListFilter:
    """Return the filter for the parameters. Raises DomainError (invalid) with all errors."""
    collector = ErrorCollector()
    for name in ("customer_reference", "status", "sku", "tracking_number"):
        with collector.collecting():
            if "\x00" in (getattr(parameters, name) or ""):
                raise invalid(name, "must not contain a NUL character")
    created_from = collector.attempt(lambda: _moment("created_from", parameters.created_from))
    created_to = collector.attempt(lambda: _moment("created_to", parameters.created_to, latest=True))
    changed_since = collector.attempt(lambda: _moment("changed_since", parameters.changed_since))
    collector.check()
    return OrderListFilter(
        customer_reference=_stripped(parameters.customer_reference),
        status=_stripped(parameters.status),
        confirmed_from=created_from,
        confirmed_to=created_to,
        changed_since=changed_since,
        sku_key=None if parameters.sku is None else key_form(parameters.sku),
        tracking_number=_stripped(parameters.tracking_number),
    )


def _stripped(text: str | None) -> str | None:
    return None if text is None else text.strip()


def _moment(name: str, text: str | None, *, latest: bool = False) -> datetime | None:
    if text is None:
        return None
    try:
        return moment_of(text, latest=latest)
    except ValueError as error:
        problem = f"must be a UK local time such as 2026-03-02T17:30:00, not {text[:_LONGEST_QUOTED]!r}"
        raise invalid(name, problem) from error


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
    fulfilment: OrderFulfilment
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
            total, numbers = await list_orders(tx, self.customer_id, wanted, start, end)
            batch = await self._read(tx, numbers)
        left = numbers[len(batch.orders) :]
        text = await self._encode(batch)
        headers = page_headers(call, page, total) | attachment(call.accept, self.layout.format, "orders")
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
