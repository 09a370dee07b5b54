"""Reading orders. Everything a customer reads is limited to its own."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec
import numpy as np
from numpy.typing import NDArray
from psycopg.sql import SQL

from tradecounter.db.round_trip import Nothing, Query, Statement, array
from tradecounter.db.rows import fetch_one
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found
from tradecounter.kit.text import fold
from tradecounter.ordering.records import LineRecord, OrderRecord

_ORDER = SQL(
    "id, customer_id, kind, state, confirmation_code, number, order_reference, customer_reference,"
    " external_customer_id, billing_address, shipping_address, order_notifications, courier_notifications,"
    " shipping_region, shipping_options, shipping_method, shipping_weight, shipping_net, shipping_tax, cost_net,"
    " cost_tax, tax_rate, gross, paid, status, term_days, created_at, expires_at, confirmed_at,"
    " priced_at, pricings, quote_note, cancelled_at, cancel_reason, expected_changed_at"
)
_LARGEST_NUMBER_DIGITS = 18
_DIGITS_AT_END = re.compile(r"(?<![0-9])[0-9]{1,18}$", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Count:
    count: int


_COUNT = Statement("select count(*) as count from orders where customer_id = $1 and state = 'confirmed'", _Count)


@dataclass(frozen=True, slots=True)
class _Packed:
    numbers: bytes | None


# The index alone answers it, also for the last page of many. The numbers come as 64-bit integers in network byte order:
# reading tens of thousands of them as text would keep other requests waiting.
_NUMBERS = Statement(
    """
    select string_agg(int8send(number), '' order by confirmed_at desc, number desc) as numbers from (
        select confirmed_at, number from orders where customer_id = $1 and state = 'confirmed'
        order by confirmed_at desc, number desc offset $2::bigint limit $3::bigint
    ) as page
    """,
    _Packed,
)

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

_OWN = Statement(
    SQL(
        "select {} from orders where customer_id = $1 and number is not null and (order_reference = $2 or number = $3)"
    ).format(_ORDER),
    OrderRecord,
)


@dataclass(frozen=True, slots=True)
class OrderList:
    """How many confirmed orders a customer has, and the numbers of some of them, the latest confirmed first."""

    total: int
    numbers: NDArray[np.int64]


async def list_orders(tx: Transaction, customer_id: int, start: int, end: int) -> OrderList:
    """Return which of a customer's confirmed orders, the latest confirmed first, are in a range of the list."""
    counted, packed = _COUNT(customer_id), _NUMBERS(customer_id, start, end - start)
    await tx.ask(counted, packed)
    return OrderList(counted.only.count, np.frombuffer(packed.only.numbers or b"", ">i8").astype(np.int64))


async def listed_orders(
    tx: Transaction, customer_id: int, numbers: Sequence[int], most_lines: int
) -> list[OrderRecord]:
    """Return the first of a customer's orders with these numbers: at least one, then no more than have so many lines.

    An order that was cancelled since the list was read is among them. Raises LookupError when one is gone, which no
    part of the service does.
    """
    found = _LISTED(customer_id, array(numbers), most_lines)
    await tx.ask(found)
    listed = [order.number for order in found.rows]
    if listed != list(numbers[: len(listed)]) or (numbers and not listed):
        raise LookupError("an order of the list is gone")
    return found.rows


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
    """Return lines without those that are components, which their bundles hold then."""
    components: defaultdict[int, list[LineRecord]] = defaultdict(list)
    for line in found:
        if line.bundle_line_id is not None:
            components[line.bundle_line_id].append(line)
    if not components:
        return list(found)
    return [
        msgspec.structs.replace(line, components=tuple(components.get(line.id, ())))
        for line in found
        if line.bundle_line_id is None
    ]


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


def _is_number(reference: str) -> bool:
    return reference.isascii() and reference.isdigit() and len(reference) <= _LARGEST_NUMBER_DIGITS
