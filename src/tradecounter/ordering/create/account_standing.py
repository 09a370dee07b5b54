"""Reads an account's standing before it creates an order: its terms, its debt, saved addresses, and the cap.

The cap limits a customer's pending orders, or its unpriced quotes. Far below the cap, creations share a lock on the
customer and run at the same time: even one creation on every database connection could not exceed the cap. Near the
cap, each creation takes the lock exclusively and counts again.
"""

from tradecounter.db.pipeline import Pipeline, Result, array
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found
from tradecounter.ordering.create.draft import count_lines
from tradecounter.ordering.create.order_addresses import named_addresses
from tradecounter.ordering.order_context import OrderContext
from tradecounter.ordering.queries.create import STANDING, AccountStanding
from tradecounter.ordering.states import Kind
from tradecounter.ordering.wire import CreateOrderRequest


def fetch_standing(
    p: Pipeline, kind: Kind, request: CreateOrderRequest, context: OrderContext
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


def standing_of(found: Result[AccountStanding]) -> AccountStanding:
    """Return the fetched standing. Raises DomainError (not found) for an unknown customer."""
    if found.first is None:
        raise not_found("customer")
    return found.first


async def account_standing(
    tx: Transaction, kind: Kind, request: CreateOrderRequest, context: OrderContext
) -> AccountStanding:
    """Fetch a standing in a separate round trip. Raises DomainError (not found)."""
    async with tx.pipeline() as p:
        found = fetch_standing(p, kind, request, context)
    return standing_of(found)
