"""Reads an account's standing before it creates an order: its terms, its debt, saved addresses, and the cap.

The same round trip reads the marks of the catalogue, the prices and the shipping methods, so that an order never has
an older price than one that was acknowledged (`storefront/current_view.py`).

The cap limits a customer's pending orders, or its unpriced quotes. Far below the cap, creations share a lock on the
customer and run at the same time: even one creation on every database connection could not exceed the cap. Near the
cap, each creation takes the lock exclusively and counts again.
"""

from msgspec.structs import replace

from tradecounter.db.pipeline import Pipeline, Result, array
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found
from tradecounter.kit.local_time import uk_date
from tradecounter.orders.create.draft import count_lines
from tradecounter.orders.create.order_addresses import named_addresses
from tradecounter.orders.order_context import OrderContext
from tradecounter.orders.queries.create import STANDING, AccountStanding, reserve_lines
from tradecounter.orders.states import OrderKind
from tradecounter.orders.wire import CreateOrderRequest
from tradecounter.shipping.methods import shipping_at
from tradecounter.storefront.current_view import view_at


def pipe_standing(
    p: Pipeline, kind: OrderKind, request: CreateOrderRequest, context: OrderContext
) -> Result[AccountStanding]:
    """Fetch the standing of a customer's account for a requested order or quote; see `standing_of`."""
    return p.fetch(
        STANDING,
        customer_id=context.customer_id,
        kind=kind,
        address_ids=array(named_addresses(request)),
        lines=count_lines(context.view, request.items),
        cap=None if request.auto_confirm else context.policy.most_pending(kind),  # the order is confirmed, not pending
        now=context.now,
    )


def standing_of(found: Result[AccountStanding], customer_id: int) -> AccountStanding:
    """Return the fetched standing. Raises DomainError (not found) for an unknown customer."""
    if found.first is None:
        raise not_found("customer", customer_id)
    return found.first


async def account_standing(
    tx: Transaction, kind: OrderKind, request: CreateOrderRequest, context: OrderContext
) -> AccountStanding:
    """Fetch a standing in a separate round trip. Raises DomainError (not found)."""
    async with tx.pipeline() as p:
        found = pipe_standing(p, kind, request, context)
    return standing_of(found, context.customer_id)


async def with_current_data(
    tx: Transaction, request: CreateOrderRequest, standing: AccountStanding, context: OrderContext
) -> tuple[AccountStanding, OrderContext]:
    """Return the standing and the context with the view and the shipping methods at the standing's marks.

    Takes no round trip if the context is current.
    """
    shipping = await shipping_at(tx, standing.shipping_mark, context.shipping)
    skus = (item.sku for item in request.items)
    view = await view_at(tx, standing.catalogue_mark, context.view, context.customer_id, skus, uk_date(context.now))
    if view is context.view:
        return standing, context if shipping is context.shipping else replace(context, shipping=shipping)
    lines = count_lines(view, request.items)
    if lines > len(standing.line_ids):  # a bundle has more components than the older view knew
        _, line_ids = await reserve_lines(tx, standing.order_id, lines)
        standing = replace(standing, line_ids=line_ids)
    return standing, replace(context, view=view, shipping=shipping)


async def current_standing(
    tx: Transaction, kind: OrderKind, request: CreateOrderRequest, context: OrderContext
) -> tuple[AccountStanding, OrderContext]:
    """Fetch a standing, and return it with the context as `with_current_data` does. Raises DomainError (not found)."""
    return await with_current_data(tx, request, await account_standing(tx, kind, request, context), context)
