"""Finding orders and quotes of any customer, for the operator: by what they have in common, or one by what is typed."""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from psycopg.sql import SQL, Composed, Identifier

from tradecounter.db.rows import fetch_all, fetch_one
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.local_time import local_text
from tradecounter.ordering.records import OrderRecord

_COLUMNS = SQL(", ").join(map(Identifier, OrderRecord.__struct_fields__))

_CODE_LENGTH = 32  # hexadecimal digits
_SHORTEST_BEGINNING = 4
_LARGEST_NUMBER = 2**63 - 1
_MOST_NAMED = 5

_BEGINNING_OF_CODE = re.compile(f"[0-9a-f]{{{_SHORTEST_BEGINNING},{_CODE_LENGTH - 1}}}")
_NUMBER_AT_END = re.compile(r"[1-9][0-9]{0,17}$")

# Of each of the two ways to be among the latest, one index holds as many as can be shown.
_LATEST = SQL(
    "id in (select id from (select id from orders where number is not null order by number desc limit %(most)s) as c"
    " union all select id from (select id from orders order by id desc limit %(most)s) as p)"
)
# References are compared trimmed and without case (decisions, 409 for duplicated data).
_OF_CUSTOMER = SQL("customer_id = %(customer_id)s")
_CUSTOMER_REFERENCE = SQL("lower(btrim(customer_reference)) = lower(btrim(%(customer_reference)s))")
# No index begins with the reference: it is looked up for each customer.
_CUSTOMER_REFERENCE_OF_ANY = SQL(
    "id in (select r.id from customer as c cross join lateral"
    " (select id from orders where customer_id = c.id and {} offset 0) as r)"
).format(_CUSTOMER_REFERENCE)
_BEGINS = SQL("(starts_with(lower(order_reference), lower(%(reference)s)) or starts_with(number::text, %(reference)s))")
# A reference ends with the order's number, which has an index whatever the database's collation is.
_REFERENCE = SQL(
    "id in (select n.id from unnest(%(lows)s::bigint[], %(highs)s::bigint[]) as r (low, high) cross join lateral"
    " (select id from orders where number between r.low and r.high and {} offset 0) as n)"
).format(_BEGINS)
_PRODUCT = SQL("exists (select from order_line as l where l.order_id = orders.id and l.product_id = %(product_id)s)")
_FROM = SQL("coalesce(confirmed_at, created_at) >= %(created_from)s")
_TO = SQL("coalesce(confirmed_at, created_at) < %(created_to)s")
_STATUS = SQL("status = %(status)s")
_STATE = SQL("state = %(state)s")


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFilter:
    """What orders have to have in common.

    `reference` is an order reference, an order id, or the beginning of one. The moments are those of the confirmation,
    or of the creation while there is none; `created_to` is exclusive.
    """

    customer_id: int | None = None
    reference: str | None = None
    customer_reference: str | None = None
    product_id: int | None = None
    created_from: datetime | None = None
    created_to: datetime | None = None
    status: str | None = None
    state: str | None = None


async def list_all_orders(tx: Transaction, wanted: OrderFilter, most: int) -> list[OrderRecord]:
    """Return the latest orders and quotes of all customers that pass a filter.

    The latest are those confirmed last, or created last while they are not confirmed.
    """
    lows, highs = _numbers_beginning(wanted.reference or "")
    conditions = list(_conditions(wanted))
    if conditions in ([], [_FROM]):  # the latest of those since a moment are the latest of all
        conditions.append(_LATEST)
    return await fetch_all(
        tx,
        OrderRecord,
        SQL(
            "select {} from orders where {} order by coalesce(confirmed_at, created_at) desc, id desc limit %(most)s"
        ).format(_COLUMNS, SQL(" and ").join(conditions)),
        {**asdict(wanted), "lows": lows, "highs": highs, "most": most},
    )


def _conditions(wanted: OrderFilter) -> Iterator[SQL | Composed]:
    if wanted.customer_id is not None:
        yield _OF_CUSTOMER
    if wanted.customer_reference is not None:
        yield _CUSTOMER_REFERENCE_OF_ANY if wanted.customer_id is None else _CUSTOMER_REFERENCE
    for value, condition in (
        (wanted.reference, _REFERENCE),
        (wanted.product_id, _PRODUCT),
        (wanted.created_from, _FROM),
        (wanted.created_to, _TO),
        (wanted.status, _STATUS),
        (wanted.state, _STATE),
    ):
        if value is not None:
            yield condition


def _numbers_beginning(reference: str) -> tuple[list[int], list[int]]:
    """Return the ranges of numbers that begin with the digits at the end of a reference: 7, 70 to 79, 700 to 799."""
    found = _NUMBER_AT_END.search(reference)
    lows, highs = [], []
    if found is not None:
        low, high = int(found[0]), int(found[0])
        while low <= _LARGEST_NUMBER:
            lows.append(low)
            highs.append(min(high, _LARGEST_NUMBER))
            low, high = low * 10, high * 10 + 9
    return lows, highs


async def list_quotes(tx: Transaction, most: int, *, waiting: bool) -> list[OrderRecord]:
    """Return all customers' quotes: those waiting for a price, oldest first; or all, latest first."""
    chosen = SQL(
        "state = 'pending' and priced_at is null order by created_at, id" if waiting else "true order by id desc"
    )
    return await fetch_all(
        tx,
        OrderRecord,
        SQL("select {} from orders where kind = 'quote' and {} limit %s").format(_COLUMNS, chosen),
        [most],
    )


async def find_quote(tx: Transaction, code: str) -> OrderRecord | None:
    """Return a quote by its confirmation code, whatever has become of it."""
    return await _first(tx, SQL("kind = 'quote' and confirmation_code = %(code)s"), {"code": code})


async def any_order(tx: Transaction, name: str) -> OrderRecord:
    """Return an order by its id, its reference (in any case), or its confirmation code or the beginning of that.

    Raises DomainError: not found, invalid (several codes begin so).
    """
    order = await _order_named(tx, name) or await _order_with_code(tx, name)
    if order is None:
        raise _unknown(name, await _orders_beginning(tx, name))
    return order


async def order_to_show(tx: Transaction, name: str) -> OrderRecord:
    """Return an order as `any_order` does, or by the customer's reference, or by the beginning of its reference or id.

    Raises DomainError: not found, invalid (several orders have the reference, or begin so).
    """
    order = await _order_named(tx, name)
    if order is not None:
        return order
    if found := await list_all_orders(tx, OrderFilter(customer_reference=name), _MOST_NAMED + 1):
        return _only(found, f"{name} is the customer's reference of several orders")
    order = await _order_with_code(tx, name)
    if order is not None:
        return order
    if found := await _orders_beginning(tx, name):
        return _only(found, f"{name} is the beginning of several references")
    raise _unknown(name, [])


async def whole_code(tx: Transaction, beginning: str) -> str:
    """Return the confirmation code that a text is the beginning of, or else the text.

    Raises DomainError (invalid) when several codes begin so.
    """
    order = await _order_with_code(tx, beginning)
    return beginning if order is None else order.confirmation_code


async def _order_named(tx: Transaction, name: str) -> OrderRecord | None:
    """Return the order with an id, a reference or a confirmation code."""
    number = _NUMBER_AT_END.search(name)
    return await _first(
        tx,
        SQL(
            "(number = %(number)s and (number::text = %(name)s or lower(order_reference) = lower(%(name)s)))"
            " or confirmation_code = lower(%(name)s)"
        ),
        {"number": None if number is None else int(number[0]), "name": name.strip()},
    )


async def _order_with_code(tx: Transaction, beginning: str) -> OrderRecord | None:
    """Return the order whose confirmation code begins with a text. Raises DomainError (invalid) when several do."""
    beginning = beginning.strip().lower()
    if not _BEGINNING_OF_CODE.fullmatch(beginning):
        return None
    found = await fetch_all(
        tx,
        OrderRecord,
        SQL("select {} from orders where confirmation_code between %s and %s order by id desc limit %s").format(
            _COLUMNS
        ),
        [beginning.ljust(_CODE_LENGTH, "0"), beginning.ljust(_CODE_LENGTH, "f"), _MOST_NAMED + 1],
    )
    if len(found) > 1:
        more = " and more" if len(found) > _MOST_NAMED else ""
        codes = ", ".join(order.confirmation_code for order in found[:_MOST_NAMED])
        raise DomainError(Kind.INVALID, f"{beginning} is the beginning of several confirmation codes: {codes}{more}")
    return found[0] if found else None


async def _orders_beginning(tx: Transaction, reference: str) -> list[OrderRecord]:
    """Return the latest orders whose reference or id begins with a text that has a digit at its end."""
    lows, highs = _numbers_beginning(reference)
    return await fetch_all(
        tx,
        OrderRecord,
        SQL(
            "select {} from unnest(%(lows)s::bigint[], %(highs)s::bigint[]) as r (low, high) cross join lateral"
            " (select * from orders where number between r.low and r.high and {} order by number desc limit %(most)s)"
            " as n order by number desc limit %(most)s"
        ).format(_COLUMNS, _BEGINS),
        {"lows": lows, "highs": highs, "reference": reference.strip(), "most": _MOST_NAMED + 1},
    )


def _only(found: list[OrderRecord], problem: str) -> OrderRecord:
    """Return the only order of a list. Raises DomainError (invalid) with the candidates when there are several."""
    if len(found) == 1:
        return found[0]
    raise DomainError(Kind.INVALID, f"{problem}: {_named(found)}")


def _unknown(name: str, candidates: list[OrderRecord]) -> DomainError:
    hint = f"; references that begin so: {_named(candidates)}" if candidates else ""
    return DomainError(Kind.NOT_FOUND, f"there is no order {name}{hint}")


def _named(orders: list[OrderRecord]) -> str:
    """Return orders on one line, so that the operator can tell them apart."""
    named = [
        f"{order.order_reference or order.confirmation_code} (customer {order.customer_id}, "
        f"{order.status or order.state}, {local_text(order.confirmed_at or order.created_at)})"
        for order in orders[:_MOST_NAMED]
    ]
    return ", ".join(named) + (" and more" if len(orders) > _MOST_NAMED else "")


async def _first(tx: Transaction, condition: SQL, values: dict[str, Any]) -> OrderRecord | None:
    return await fetch_one(
        tx, OrderRecord, SQL("select {} from orders where {} limit 1").format(_COLUMNS, condition), values
    )
