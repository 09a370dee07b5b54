"""Prices an order again whose prices expired while it waited for approval."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec import Raw, to_builtins

from tradecounter.approvals.decide import decided_already, fetch_waiting_approval
from tradecounter.approvals.queries import move_approval
from tradecounter.customers.wire import CustomerAddress
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.json_text import to_json
from tradecounter.orders.create.create_for_customer import create_for_customer
from tradecounter.orders.history import audit_order
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.order_context import OrderContext
from tradecounter.orders.queries.lines import lines_of_order
from tradecounter.orders.queries.orders import copy_own_notes, fetch_own_order_by_code
from tradecounter.orders.shipping_options import choose_shipping, method_needed
from tradecounter.orders.states import AnyOrder, PendingOrder
from tradecounter.orders.wire import CreateOrderItem, CreateOrderRequest


async def price_again(tx: Transaction, customer_id: int, code: str, context: OrderContext) -> PendingOrder:
    """Replace an order whose prices have expired by the same one at today's prices, which then waits for approval.

    Raises DomainError as `create_for_customer` does, and conflict if it is decided or has not expired, or if what it
    has cannot be ordered any more.
    """
    approval = await fetch_waiting_approval(tx, customer_id, code, context.now)
    order = await fetch_own_order_by_code(tx, customer_id, code)
    if not isinstance(order, PendingOrder) or not order.has_expired(context.now):
        raise DomainError(Kind.CONFLICT, "its prices have not expired")
    lines = await lines_of_order(tx, order.id)
    with _saying_why():
        made, _ = await create_for_customer(
            tx, _same(order, lines), context, confirm=False, override_credit=None, replaces=code
        )
    if not isinstance(made, PendingOrder):
        raise TypeError("an order that is not to be confirmed is pending")
    option = choose_shipping(made.shipping_options, None, approval.shipping_method)
    option = option or next(iter(made.shipping_options), None)
    if option is None:
        raise method_needed(made.shipping_options)
    gross = made.gross_with(option)
    if not await move_approval(tx, order.id, made.id, option.id, gross, context.now):
        raise decided_already()
    await copy_own_notes(tx, order.id, made.id)
    before, after = {"total_gross": approval.gross}, {"total_gross": gross}
    audit_order(tx, "order.price_again", made, context.now, before=before, after=after)
    return made


@contextmanager
def _saying_why() -> Iterator[None]:
    """Run a block; nobody can correct the fields of the same order, so their errors are a conflict without them."""
    try:
        yield
    except DomainError as error:
        if error.kind is not Kind.INVALID:
            raise
        why = "; ".join(each.message for each in error.field_errors) or error.message
        raise DomainError(Kind.CONFLICT, f"it cannot be priced again: {why}. Decline it, and order anew") from error


def _same(order: AnyOrder, lines: Sequence[OrderLine]) -> CreateOrderRequest:
    """Return the request for an order with the same lines and addresses."""
    return CreateOrderRequest(
        customer_reference=order.customer_reference,
        items=[CreateOrderItem(line.sku, line.quantity or line.cancelled) for line in lines],
        external_customer_id=order.external_customer_id,
        order_notifications=order.order_notifications,
        courier_notifications=order.courier_notifications,
        billing_address=_details(order.billing_address),
        shipping_address=_details(order.shipping_address),
        shipping_region=order.shipping_region,
        allow_back_orders=None if order.allow_back_orders else False,
    )


def _details(address: CustomerAddress) -> Raw:
    return Raw(to_json({field: value for field, value in to_builtins(address).items() if field != "id"}))
