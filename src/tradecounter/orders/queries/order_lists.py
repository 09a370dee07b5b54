"""Lists of a customer's confirmed orders: the numbers on a page, and the orders with these numbers."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from psycopg.sql import SQL, Composable

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.text import fold
from tradecounter.orders.queries.orders import order_statement
from tradecounter.orders.rules import STATUSES
from tradecounter.orders.states import NumberedOrder

_LABELS = {fold(label): label for label in STATUSES}


class OrderListFilter(Struct, frozen=True, kw_only=True):
    """A filter of orders; None matches all.

    The customer's reference is compared without case and outer white space, the status without case.
    `confirmed_from`, `changed_since` and the second of `confirmed_to` are inclusive. `sku_key` is a product's; the
    tracking number of one of the shipments is compared without case.
    """

    customer_reference: str | None = None
    status: str | None = None
    confirmed_from: datetime | None = None
    confirmed_to: datetime | None = None
    changed_since: datetime | None = None
    sku_key: str | None = None
    tracking_number: str | None = None


class _List:
    """The statements for the orders that match a condition."""

    def __init__(self, condition: Composable) -> None:
        self.count = Statement(SQL("select count(*) from orders where {}").format(condition))
        # An index-only scan, also for the last page of many. The numbers are 64-bit integers in network byte order:
        # reading tens of thousands of them as text would delay other requests.
        self.numbers = Statement(
            SQL(
                """
                select string_agg(int8send(number), '' order by confirmed_at desc, number desc) from (
                    select confirmed_at, number from orders where {}
                    order by confirmed_at desc, number desc offset :start::bigint limit :count::bigint
                ) as page
                """
            ).format(condition)
        )


_OF_CUSTOMER = SQL("customer_id = :customer_id and state = 'confirmed'")
# The plan is the same for all values, so an index must serve every condition.
_FILTERED = SQL(
    "{} and confirmed_at >= coalesce(:confirmed_from::timestamptz, '-infinity')"
    " and confirmed_at < coalesce(:confirmed_to::timestamptz + interval '1 second', 'infinity')"
    " and (:status::text is null or status = :status)"
).format(_OF_CUSTOMER)
# Conditions with an index of their own, which the plan needs only when they apply.
_CONDITIONS = {
    "customer_reference": SQL("reference_key(customer_reference) = reference_key(:customer_reference)"),
    "changed_since": SQL("changed_at >= :changed_since::timestamptz"),
    "sku_key": SQL(
        "exists (select from order_line l where l.order_id = orders.id"
        " and l.product_id = (select p.id from product p where p.sku_key = :sku_key))"
    ),
    # An array, because the planner would rather look for the parcels of each order in turn.
    "tracking_number": SQL(
        "id = any(array(select order_id from shipment where lower(tracking_number) = lower(:tracking_number)))"
    ),
}

_ALL_ORDERS = _List(_OF_CUSTOMER)


@cache
def _filtered_orders(names: tuple[str, ...]) -> _List:
    """Return the statements for a filter that has these conditions besides those on status and time."""
    return _List(SQL(" and ").join([_FILTERED, *(_CONDITIONS[name] for name in names)]))


async def list_orders(
    tx: Transaction, customer_id: int, wanted: OrderListFilter, start: int, end: int
) -> tuple[int, NDArray[np.int64]]:
    """Return how many confirmed orders of a customer match, and the numbers of those from `start` to `end`.

    The latest confirmed come first.
    """
    listing, values = _listing(wanted)
    async with tx.pipeline() as p:
        counted = p.fetch(listing.count, customer_id=customer_id, **values)
        packed = p.fetch(listing.numbers, customer_id=customer_id, **values, start=start, count=end - start)
    [(total,)], [(numbers,)] = counted.rows, packed.rows
    return total, np.frombuffer(numbers or b"", ">i8").astype(np.int64)


def _listing(wanted: OrderListFilter) -> tuple[_List, dict[str, Any]]:
    """Return the statements for a filter and the values of its condition."""
    if wanted == OrderListFilter():
        return _ALL_ORDERS, {}
    wanted_by = {name: value for name in _CONDITIONS if (value := getattr(wanted, name)) is not None}
    return _filtered_orders(tuple(wanted_by)), {
        "confirmed_from": wanted.confirmed_from,
        "confirmed_to": wanted.confirmed_to,
        "status": None if wanted.status is None else _LABELS.get(fold(wanted.status), wanted.status),
        **wanted_by,
    }


_LISTED = order_statement(
    """
    select {} from (
        select o.*, wanted.place,
               sum(counted.lines) over (order by wanted.place rows between unbounded preceding and 1 preceding)
                   as lines_before
        from unnest(:numbers::bigint[]) with ordinality as wanted (number, place)
        join orders o on o.number = wanted.number and o.customer_id = :customer_id
        cross join lateral (select count(*) as lines from order_line l where l.order_id = o.id) as counted
    ) as listed
    where coalesce(lines_before, 0) < :most_lines order by place
    """
)


async def listed_orders(
    tx: Transaction, customer_id: int, numbers: Sequence[int], most_lines: int
) -> list[NumberedOrder]:
    """Return a customer's orders with these numbers, until they have `most_lines` lines together.

    Includes orders that were cancelled since the list was read. Raises LookupError when an order no longer exists;
    the service never deletes numbered orders.
    """
    async with tx.pipeline() as p:
        result = p.fetch(_LISTED, customer_id=customer_id, numbers=list(numbers), most_lines=most_lines)
    orders: list[NumberedOrder] = [order for order in result.rows if isinstance(order, NumberedOrder)]
    if [order.number for order in orders] != list(numbers[: len(orders)]) or (numbers and not orders):
        raise LookupError("an order of the list no longer exists")
    return orders
