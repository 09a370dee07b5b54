"""Creates orders for customers, by support and on pages: with the checks, prices and terms of the API."""

from msgspec.structs import replace

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import require_text
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.orders.confirm_order import confirm_order
from tradecounter.orders.create.account_standing import current_standing
from tradecounter.orders.create.place_order import place_order
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.order_context import OrderContext
from tradecounter.orders.states import ConfirmedOrder, PendingOrder
from tradecounter.orders.wire import CreateOrderRequest
from tradecounter.orders.withdraw_order import replace_order


async def create_for_customer(
    tx: Transaction,
    request: CreateOrderRequest,
    context: OrderContext,
    *,
    confirm: bool,
    override_credit: str | None,
    replaces: str | None = None,
) -> tuple[PendingOrder | ConfirmedOrder, list[OrderLine]]:
    """Create an order, and confirm it if `confirm` or the request says so.

    `override_credit` is the reason why the order may exceed the account's credit; `replaces` the confirmation code of
    a pending order of the customer, which is cancelled. Raises DomainError as `place_order`, `confirm_order` and
    `replace_order` do.
    """
    if override_credit is not None:
        require_text("override_credit.reason", override_credit, LONGEST_REASON)
    request = replace(request, auto_confirm=confirm or bool(request.auto_confirm))
    standing, context = await current_standing(tx, "order", request, context)
    if replaces is not None:
        await replace_order(tx, context.customer_id, replaces, context.now)
        replaces = replaces.lower()
    pending, lines = await place_order(
        tx, request, standing, context, override_credit=override_credit is not None, replaces=replaces
    )
    if not request.auto_confirm:
        return pending, lines
    return await confirm_order(
        tx,
        context.customer_id,
        pending.confirmation_code,
        None,
        context.policy,
        context.now,
        override_credit=override_credit,
    )
