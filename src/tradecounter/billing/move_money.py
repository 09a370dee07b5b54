"""Moves money between payments, invoices and the account; locks an order with its account's money."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from tradecounter.billing.queries.ledger import (
    AllocatedMoney,
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


async def take_unallocated(
    tx: Transaction, customer_id: int, order_id: int, invoice: int, amount: Decimal, now: datetime
) -> None:
    """Pay a new invoice with money on the account, the oldest payments first; changes neither order nor exposure."""
    if not amount:
        return
    free = await free_money(tx, customer_id)
    drawn = draw(free, [money.amount for money in free], amount)
    allocate(tx, [AllocatedMoney(money.payment_id, invoice, order_id, share) for money, share in drawn], now)
    add_unallocated(tx, customer_id, -amount)


class PaymentMoney(Struct, frozen=True):
    """The amount of a customer's payment, and its shares, which pay invoices; the rest is on the account."""

    customer_id: int
    amount: Decimal
    shares: Sequence[AllocatedMoney]


def allocate_payments(tx: Transaction, payments: Iterable[PaymentMoney], at: datetime | None = None) -> None:
    """Pay invoices with payments, from `at`, or without it from when each payment counts; negative amounts undo that.

    The caller has locked the accounts and the orders.
    """
    shares: list[AllocatedMoney] = []
    rest: defaultdict[int, Decimal] = defaultdict(Decimal)
    total: defaultdict[int, Decimal] = defaultdict(Decimal)
    for payment in payments:
        shares += payment.shares
        paid = sum((share.amount for share in payment.shares), NOTHING)
        rest[payment.customer_id] += payment.amount - paid
        total[payment.customer_id] += paid
    _pay(tx, shares, at)
    for customer_id in sorted(rest):
        add_unallocated(tx, customer_id, rest[customer_id])
        discharge(tx, customer_id, total[customer_id])


def _pay(tx: Transaction, shares: Sequence[AllocatedMoney], at: datetime | None) -> None:
    """Pay invoices and their orders."""
    allocate(tx, shares, at)
    paid = defaultdict[int, Decimal](Decimal)
    for share in shares:
        paid[share.order_id] += share.amount
    for order_id, amount in paid.items():
        settle(tx, order_id, paid=amount)


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
    drawn = draw(paying, [allocated.amount for allocated in paying], amount)
    _pay(tx, [replace(allocated, amount=-share) for allocated, share in drawn], now)
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
