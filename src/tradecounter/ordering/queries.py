"""Reading orders. Everything a customer reads is limited to its own."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec
import numpy as np
from numpy.typing import NDArray
from psycopg.sql import SQL, Composable

from tradecounter.db.round_trip import Nothing, Query, Statement, array
from tradecounter.db.rows import fetch_one
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found
from tradecounter.kit.text import fold
from tradecounter.ordering.records import LineRecord, OrderRecord
from tradecounter.ordering.rules import STATUSES

_ORDER = SQL(
    "id, customer_id, kind, state, confirmation_code, number, order_reference, customer_reference,"
    " external_customer_id, billing_address, shipping_address, order_notifications, courier_notifications,"
    " shipping_region, shipping_options, shipping_method, shipping_weight, shipping_net, shipping_tax, cost_net,"
    " cost_tax, tax_rate, gross, paid, status, term_days, created_at, expires_at, confirmed_at,"
    " priced_at, pricings, quote_note, cancelled_at, cancel_reason, expected_changed_at"
)
_DIGITS_AT_END = re.compile(r"(?<![0-9])[0-9]{1,18}$", re.ASCII)
_LABELS = {fold(label): label for label in STATUSES}


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderListFilter:
    """What orders have to have in common; None does not matter.

    The customer's reference is compared without case and white space around it, the status without case. The moments
    are those of the confirmation: `confirmed_from` is inclusive, `confirmed_before` exclusive.
    """

    customer_reference: str | None = None
    status: str | None = None
    confirmed_from: datetime | None = None
    confirmed_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class OrderList:
    """How many orders pass a filter, and the numbers of some of them, the latest confirmed first."""

    total: int
    numbers: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Count:
    count: int


@dataclass(frozen=True, slots=True)
class _Packed:
    numbers: bytes | None


class _List:
    """The statements for the orders that pass a condition; `$2` and on are the condition's, the last two the page's."""

    def __init__(self, condition: Composable, values: int) -> None:
        self.count = Statement(SQL("select count(*) as count from orders where {}").format(condition), _Count)
        # The index alone answers it, also for the last page of many. The numbers come as 64-bit integers in network
        # byte order: reading tens of thousands of them as text would keep other requests waiting.
        self.numbers = Statement(
            SQL(
                """
                select string_agg(int8send(number), '' order by confirmed_at desc, number desc) as numbers from (
                    select confirmed_at, number from orders where {condition}
                    order by confirmed_at desc, number desc offset {offset}::bigint limit {limit}::bigint
                ) as page
                """
            ).format(condition=condition, offset=SQL(f"${values + 1}"), limit=SQL(f"${values + 2}")),
            _Packed,
        )


_OF_CUSTOMER = SQL("customer_id = $1 and state = 'confirmed'")
# Every condition is one that an index serves whatever the values are: a plan is made for all values.
_FILTERED = SQL(
    "{} and confirmed_at >= coalesce($2::timestamptz, '-infinity')"
    " and confirmed_at < coalesce($3::timestamptz, 'infinity') and ($4::text is null or status = $4)"
).format(_OF_CUSTOMER)
_BY_REFERENCE = SQL("{} and lower(btrim(customer_reference)) = lower(btrim($5))").format(_FILTERED)

_ALL_ORDERS = _List(_OF_CUSTOMER, 1)
_FILTERED_ORDERS = _List(_FILTERED, 4)
_ORDERS_BY_REFERENCE = _List(_BY_REFERENCE, 5)


async def list_orders(tx: Transaction, customer_id: int, wanted: OrderListFilter, start: int, end: int) -> OrderList:
    """Return which of a customer's confirmed orders, the latest confirmed first, are in a range of those that pass."""
    listing, values = _listing(customer_id, wanted)
    counted, packed = listing.count(*values), listing.numbers(*values, start, end - start)
    await tx.ask(counted, packed)
    return OrderList(counted.only.count, np.frombuffer(packed.only.numbers or b"", ">i8").astype(np.int64))


def _listing(customer_id: int, wanted: OrderListFilter) -> tuple[_List, list[int | str | datetime | None]]:
    """Return the statements for a filter and the values of its condition."""
    if wanted == OrderListFilter():
        return _ALL_ORDERS, [customer_id]
    status = None if wanted.status is None else _LABELS.get(fold(wanted.status), wanted.status)
    values = [customer_id, wanted.confirmed_from, wanted.confirmed_before, status]
    if wanted.customer_reference is None:
        return _FILTERED_ORDERS, values
    return _ORDERS_BY_REFERENCE, [*values, wanted.customer_reference]


_LISTED = Statement(
    SQL(
        """
        select {} from (
            select o.*, wanted.place,
                   sum(held.lines) over (order by wanted.place rows between unbounded preceding and 1 preceding)
                       as lines_before
            from unnest($2::bigint[]) with ordinality as wanted (number, place)
            join orders o on o.number = wanted.number and o.customer_id = $1
            cross join lateral (select count(*) as lines from order_line l where l.order_id = o.id) as held
        ) as listed
        where coalesce(lines_before, 0) < $3 order by place
        """
    ).format(_ORDER),
    OrderRecord,
)


async def listed_orders(
    tx: Transaction, customer_id: int, numbers: Sequence[int], most_lines: int
) -> list[OrderRecord]:
    """Return the first of a customer's orders with these numbers: at least one, then none after `most_lines` lines.

    An order that was cancelled since the list was read is among them. Raises LookupError when one is gone, which no
    part of the service does.
    """
    found = _LISTED(customer_id, array(numbers), most_lines)
    await tx.ask(found)
    listed = [order.number for order in found.rows]
    if listed != list(numbers[: len(listed)]) or (numbers and not listed):
        raise LookupError("an order of the list is gone")
    return found.rows


_OWN = Statement(
    SQL(
        "select {} from orders where customer_id = $1 and number is not null and (order_reference = $2 or number = $3)"
    ).format(_ORDER),
    OrderRecord,
)


async def own_order(tx: Transaction, customer_id: int, reference: str) -> OrderRecord:
    """Return a customer's order by its id or its reference, once confirmed, cancelled ones included.

    The reference's case does not matter. Raises DomainError (not found).
    """
    order = await find_own_order(tx, customer_id, reference)
    if order is None:
        raise not_found("order")
    return order


async def find_own_order(tx: Transaction, customer_id: int, reference: str) -> OrderRecord | None:
    """Return what `own_order` does, or None."""
    # A reference ends with the order's number, by which it is found however it is spelled.
    digits = _DIGITS_AT_END.search(reference)
    found = _OWN(customer_id, reference, int(digits[0]) if digits else None)
    await tx.ask(found)
    wanted = fold(reference)
    return next((o for o in found.rows if wanted in {fold(o.order_reference or ""), str(o.number)}), None)


_BY_CODE = Statement(
    SQL("select {} from orders where customer_id = $1 and confirmation_code = $2").format(_ORDER), OrderRecord
)

_LOCK_UNCONFIRMED = Statement(
    "select from orders where customer_id = $1 and confirmation_code = $2 and number is null for update", Nothing
)


def lock_unconfirmed(customer_id: int, code: str) -> Query[Nothing]:
    """Return the statement that locks a customer's order or quote, unless it is confirmed, until the transaction ends.

    What is asked for after it, also in the same trip, is as it stands under the lock.
    """
    return _LOCK_UNCONFIRMED(customer_id, code)


def by_code(customer_id: int, code: str) -> Query[OrderRecord]:
    """Return the statement for a customer's order or quote by its confirmation code."""
    return _BY_CODE(customer_id, code)


async def lock_by_code(tx: Transaction, code: str) -> OrderRecord | None:
    """Return anybody's order or quote by its confirmation code, locked until the transaction ends, for the operator."""
    return await fetch_one(
        tx, OrderRecord, SQL("select {} from orders where confirmation_code = %s for update").format(_ORDER), [code]
    )


_LINE = SQL(
    "l.id, l.order_id, l.product_id, l.sku, l.name, l.quantity, l.unit_cost, l.cost_net, l.cost_tax, l.allocated,"
    " l.back_ordered, l.dispatched, l.bundle_line_id"
)

_LINES = Statement(
    SQL("select {} from order_line l where l.order_id = any($1::bigint[]) order by l.order_id, l.position").format(
        _LINE
    ),
    LineRecord,
)

_LINES_BY_CODE = Statement(
    SQL(
        "select {} from order_line l join orders o on o.id = l.order_id"
        " where o.customer_id = $1 and o.confirmation_code = $2 order by l.position"
    ).format(_LINE),
    LineRecord,
)


def lines_by_code(customer_id: int, code: str) -> Query[LineRecord]:
    """Return the statement for the lines of a customer's order or quote; see `with_components`."""
    return _LINES_BY_CODE(customer_id, code)


async def lines_of(tx: Transaction, order_ids: Sequence[int]) -> dict[int, list[LineRecord]]:
    """Return the lines of orders, in order of position, by the orders' internal ids; bundles hold their components."""
    found = _LINES(array(order_ids))
    await tx.ask(found)
    lines: dict[int, list[LineRecord]] = {order_id: [] for order_id in order_ids}
    for line in with_components(found.rows):
        lines[line.order_id].append(line)
    return lines


def with_components(found: Sequence[LineRecord]) -> list[LineRecord]:
    """Return lines without those that are components: their bundles hold them, with their share of the figures."""
    components: defaultdict[int, list[LineRecord]] = defaultdict(list)
    for line in found:
        if line.bundle_line_id is not None:
            components[line.bundle_line_id].append(line)
    if not components:
        return list(found)
    return [
        msgspec.structs.replace(line, components=tuple(_sharing(part, line) for part in components.get(line.id, ())))
        for line in found
        if line.bundle_line_id is None
    ]


def _sharing(component: LineRecord, bundle: LineRecord) -> LineRecord:
    each = component.quantity // bundle.quantity
    return msgspec.structs.replace(
        component,
        allocated=each * bundle.allocated,
        back_ordered=each * bundle.back_ordered,
        dispatched=each * bundle.dispatched,
    )


def products_of(lines: Mapping[int, Sequence[LineRecord]]) -> set[int]:
    """Return the ids of the products on lines that `lines_of` returned, and of their components."""
    return {part.product_id for of_order in lines.values() for line in of_order for part in (line, *line.components)}


@dataclass(frozen=True, slots=True)
class _OtherOrder:
    order_reference: str | None
    confirmation_code: str


_TAKE_CUSTOMER = Statement("select from customer where id = $1 for no key update", Nothing)

_WITH_REFERENCE = Statement(
    """
    select order_reference, confirmation_code from orders
    where customer_id = $1 and lower(btrim(customer_reference)) = lower(btrim($2))
      and (state = 'confirmed' or (state = 'pending' and (expires_at is null or expires_at >= $3)))
    order by id limit 1
    """,
    _OtherOrder,
)


async def order_with_reference(tx: Transaction, customer_id: int, customer_reference: str, now: datetime) -> str | None:
    """Return the reference (or while pending the code) of a live order that has the customer's reference.

    Takes the customer's row, so that two orders cannot pass this at once.
    """
    found = _WITH_REFERENCE(customer_id, customer_reference, now)
    await tx.ask(_TAKE_CUSTOMER(customer_id), found)
    other = found.first
    return None if other is None else other.order_reference or other.confirmation_code


async def order_by_id(tx: Transaction, order_id: int) -> OrderRecord | None:
    """Return anybody's order or quote by its internal id."""
    return await fetch_one(tx, OrderRecord, SQL("select {} from orders where id = %s").format(_ORDER), [order_id])


async def lock_any_order(tx: Transaction, order_id: int) -> OrderRecord:
    """Return an order, which there has to be, by its internal id, locked until the transaction ends."""
    order = await fetch_one(
        tx, OrderRecord, SQL("select {} from orders where id = %s for no key update").format(_ORDER), [order_id]
    )
    if order is None:
        raise LookupError(f"no order {order_id}")
    return order
