"""Finds one order or quote of any customer for the operator."""

from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import local_text
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.numbers import read_id
from tradecounter.kit.text import shown_name
from tradecounter.orders.queries.all_orders import (
    OrderFilter,
    find_order,
    list_all_orders,
    orders_with_code,
)
from tradecounter.orders.states import AnyOrder

_MOST_NAMED = 5


async def fetch_order(tx: Transaction, name: str) -> AnyOrder:
    """Return an order by its id, its reference (ignoring case), or its confirmation code or the code's beginning.

    Raises DomainError: not found, invalid (several codes begin with `name`).
    """
    order = await find_order(tx, name)
    if order is None:
        order = await _order_with_code(tx, name)
    if order is None:
        raise _unknown(name, await _orders_beginning(tx, name))
    return order


async def fetch_order_by_any_name(tx: Transaction, name: str) -> AnyOrder:
    """Return an order by a name of `fetch_order`, its customer's reference, or the beginning of its own reference.

    Raises DomainError: not found, invalid (several orders match).
    """
    order = await find_order(tx, name)
    if order is not None:
        return order
    if orders := await list_all_orders(tx, OrderFilter(customer_reference=name), _MOST_NAMED + 1):
        return _only(orders, f"{shown_name(name)} is the customer's reference of several orders")
    order = await _order_with_code(tx, name)
    if order is not None:
        return order
    if orders := await _orders_beginning(tx, name):
        return _only(orders, f"several references begin with {name}")
    raise _unknown(name, [])


async def whole_code(tx: Transaction, beginning: str) -> str:
    """Return the confirmation code that begins with a text; the text itself if no code does.

    Raises DomainError (invalid) if several codes match.
    """
    order = await _order_with_code(tx, beginning)
    return beginning if order is None else order.confirmation_code


async def _order_with_code(tx: Transaction, beginning: str) -> AnyOrder | None:
    """Return the order whose confirmation code begins with a text that is no number.

    A number is an id. The id of a deleted order must not match the code of another one. Raises DomainError (invalid) if
    several codes match.
    """
    beginning = beginning.strip().lower()
    orders = [] if read_id(beginning) is not None else await orders_with_code(tx, beginning, _MOST_NAMED + 1)
    if len(orders) > 1:
        more = " and more" if len(orders) > _MOST_NAMED else ""
        codes = ", ".join(order.confirmation_code for order in orders[:_MOST_NAMED])
        raise DomainError(Kind.INVALID, f"several confirmation codes begin with {beginning}: {codes}{more}")
    return orders[0] if orders else None


async def _orders_beginning(tx: Transaction, name: str) -> list[AnyOrder]:
    """Return the latest orders whose reference, or its number, begins with a text that ends in a digit."""
    return await list_all_orders(tx, OrderFilter(reference=name.strip()), _MOST_NAMED + 1)


def _only(orders: list[AnyOrder], problem: str) -> AnyOrder:
    """Return the only order of a list. Raises DomainError (invalid) for several orders, naming them."""
    if len(orders) == 1:
        return orders[0]
    raise DomainError(Kind.INVALID, f"{problem}: {_listed(orders)}")


def _unknown(name: str, candidates: list[AnyOrder]) -> DomainError:
    hint = f"; references with this beginning: {_listed(candidates)}" if candidates else ""
    return DomainError(Kind.NOT_FOUND, f"order {shown_name(name)} not found{hint}")


def _listed(orders: list[AnyOrder]) -> str:
    listed = [
        f"{order.name} (customer {order.customer_id}, {order.label}, {local_text(order.placed_at)})"
        for order in orders[:_MOST_NAMED]
    ]
    return ", ".join(listed) + (" and more" if len(orders) > _MOST_NAMED else "")
