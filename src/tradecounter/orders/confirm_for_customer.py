"""Confirms an order or a quote for its customer: through the API, on a page, by a command."""

from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.orders.confirm_order import confirm_order
from tradecounter.orders.guards import ConfirmationGuards
from tradecounter.orders.policy import OrderingPolicy
from tradecounter.orders.reseller_wire import Confirmation
from tradecounter.orders.states import AnyOrder, ConfirmedOrder


async def confirm_for_customer(
    tx: Transaction,
    order: AnyOrder,
    request: Confirmation,
    policy: OrderingPolicy,
    now: datetime,
    *,
    pricing: int | None = None,
) -> ConfirmedOrder:
    """Confirm a pending order or a priced quote, with the checks that its customer meets.

    The caller has checked the right to override the credit. `pricing` is the number of the price of a quote that was
    shown. Raises DomainError as `confirm_order` does.
    """
    method, override = request.shipping_method, request.override_credit
    confirmed, _ = await confirm_order(
        tx,
        order.customer_id,
        order.confirmation_code,
        None if method is None else method.id,
        policy,
        now,
        override_credit=None if override is None else override.reason,
        guards=ConfirmationGuards.of(request, pricing),
    )
    return confirmed
