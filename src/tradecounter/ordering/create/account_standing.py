"""Reading what decides on a new order of an account: its terms, what it owes, the addresses that the order names."""

from tradecounter.db.pipeline import Pipeline, Result, array
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found
from tradecounter.ordering.create.draft import count_lines
from tradecounter.ordering.create.order_addresses import named_addresses
from tradecounter.ordering.create.pending_caps import cap_of
from tradecounter.ordering.order_context import OrderContext
from tradecounter.ordering.queries.create import STANDING, AccountStanding
from tradecounter.ordering.states import Kind
from tradecounter.ordering.wire import CreateOrderRequest


def fetch_standing(
    p: Pipeline, kind: Kind, request: CreateOrderRequest, context: OrderContext
) -> Result[AccountStanding]:
    """Fetch the standing of a customer's account for an order or a quote that it requests."""
    return p.fetch(
        STANDING,
        customer_id=context.customer_id,
        kind=kind,
        address_ids=array(named_addresses(request)),
        lines=count_lines(context.view, request.items),
        cap=cap_of(kind, context.policy, auto_confirm=bool(request.auto_confirm)),
        now=context.now,
    )


def standing_of(found: Result[AccountStanding]) -> AccountStanding:
    """Return the standing that was fetched. Raises DomainError (not found) when there is no such customer."""
    if found.first is None:
        raise not_found("customer")
    return found.first


async def account_standing(
    tx: Transaction, kind: Kind, request: CreateOrderRequest, context: OrderContext
) -> AccountStanding:
    """Fetch a standing in a round trip of its own. Raises DomainError (not found)."""
    async with tx.pipeline() as p:
        found = fetch_standing(p, kind, request, context)
    return standing_of(found)
