"""Moves money between payments, invoices and the account; locks an order with its account's money."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from tradecounter.billing.queries.ledger import (
    AllocatedMoney,
    OpenInvoice,
    add_unallocated,
    allocate,
    allocate_refund,
    free_money,
    lock_balance,
)
from tradecounter.billing.rules import draw
from tradecounter.credit.queries import discharge
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.money import NOTHING
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.queries.changes import settle
from tradecounter.orders.queries.orders import lock_order
from tradecounter.orders.states import CancelledOrder, CancelledUnconfirmed, ConfirmedOrder


async def take_unallocated(tx: Transaction, customer_id: int, invoice: int, amount: Decimal, now: datetime) -> None:
    """Pay a new invoice with money on the account, the oldest payments first; changes neither order nor exposure."""
    if not amount:
        return
    free = await free_money(tx, customer_id)
    for payment, share in draw(free, [money.amount for money in free], amount):
        allocate(tx, payment.payment_id, invoice, share, now)
    add_unallocated(tx, customer_id, -amount)


def allocate_payment(
    tx: Transaction, customer_id: int, payment_id: int, amount: Decimal, invoices: Sequence[OpenInvoice], at: datetime
) -> None:
    """Pay invoices with a new payment, in their sequence; the rest stays on the account."""
    paid = draw(invoices, [invoice.due for invoice in invoices], amount)
    total = sum((share for _, share in paid), NOTHING)
    for invoice, share in paid:
        allocate(tx, payment_id, invoice.invoice, share, at)
        settle(tx, invoice.order_id, paid=share)
    add_unallocated(tx, customer_id, amount - total)
    discharge(tx, customer_id, total)


async def refund_account(tx: Transaction, customer_id: int, refund_id: int, amount: Decimal, at: datetime) -> None:
    """Give money on the account back, the oldest payments first."""
    free = await free_money(tx, customer_id)
    for payment, share in draw(free, [money.amount for money in free], amount):
        allocate_refund(tx, payment.payment_id, refund_id, share, at)
    add_unallocated(tx, customer_id, -amount)


def put_back_on_account(
    tx: Transaction, customer_id: int, paying: Sequence[AllocatedMoney], amount: Decimal, now: datetime
) -> None:
    """Put money that pays an invoice back on the account, in the sequence of `paying`; the exposure stays as it is."""
    for allocated, share in draw(paying, [allocated.amount for allocated in paying], amount):
        allocate(tx, allocated.payment_id, allocated.invoice, -share, now)
        settle(tx, allocated.order_id, paid=-share)
    add_unallocated(tx, customer_id, amount)


async def lock_confirmed_order(tx: Transaction, reference: str) -> ConfirmedOrder:
    """Return an order by its reference or id; lock its account's money and the order until the transaction ends.

    Raises DomainError: not found, conflict (not confirmed, or cancelled).
    """
    named_order = await fetch_order(tx, reference)
    await lock_balance(tx, named_order.customer_id)
    order = await lock_order(tx, named_order.id)
    if isinstance(order, CancelledOrder | CancelledUnconfirmed):
        raise DomainError(Kind.CONFLICT, f"{order.name} is {order.ended_as}")
    if not isinstance(order, ConfirmedOrder):
        raise DomainError(Kind.CONFLICT, f"order {reference} is not confirmed")
    return order
