"""The credit overview of an account: its limit, its debts and what is due of its invoices."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct

from tradecounter.billing.queries.invoices import Debt, debts_of
from tradecounter.billing.queries.ledger import InvoiceBalance
from tradecounter.billing.wire import CreditOrderStatus, CreditOverview
from tradecounter.credit.queries import outstanding_of
from tradecounter.credit.rules import due_at
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.statement import RawRows
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import local_text
from tradecounter.kit.json_text import to_json
from tradecounter.kit.money import NOTHING

ORDERS_IN_A_PIECE = 100


class Credit(Struct, frozen=True):
    """An account's credit limit (0 without credit terms), its total debt, and the single debts."""

    limit: Decimal
    outstanding: Decimal
    debts: RawRows[Debt]


async def read_credit(tx: Transaction, customer_id: int) -> Credit:
    """Return a customer's credit. Raises DomainError (not found)."""
    account = await fetch_account(tx, customer_id)
    return Credit(
        account.credit_limit or NOTHING, await outstanding_of(tx, customer_id), await debts_of(tx, customer_id)
    )


def write_overview(credit: Credit, now: datetime) -> Iterator[bytes]:
    """Yield a credit overview as JSON, in chunks of about two milliseconds of work."""
    # The list of orders is the last field: only its closing bracket and the closing brace follow.
    empty = to_json(CreditOverview(credit.limit, credit.outstanding, credit.limit - credit.outstanding, []))
    yield empty[:-2]
    separator = b""
    for start in range(0, len(credit.debts), ORDERS_IN_A_PIECE):
        debts = credit.debts.between(start, start + ORDERS_IN_A_PIECE)
        yield separator + to_json([order_status(debt, now) for debt in debts])[1:-1]
        separator = b","
    yield empty[-2:]


def order_status(debt: Debt, now: datetime) -> CreditOrderStatus:
    """Return a debt as an entry of the overview; without an invoice, its term starts at the confirmation."""
    due_on = debt.due_at or due_at(debt.confirmed_at, debt.term_days)
    return CreditOrderStatus(
        total_cost=debt.gross,
        total_paid=debt.paid,
        total_due=debt.due,
        created_on=local_text(debt.confirmed_at),
        due_on=local_text(due_on),
        is_overdue=debt.due > NOTHING and now > due_on,
        customer_reference=debt.customer_reference,
        order_reference=debt.order_reference,
    )


_LONGEST = 18  # characters of the reference of a payment between banks of the UK


class OwedSums(Struct, frozen=True):
    """What is due of a customer's invoices, and how much of it is overdue, in pounds.

    `to_pay` is what is overdue, without the invoices that the customer says are paid. `reference` has the numbers of
    the other overdue invoices; it is empty if they do not fit into the reference of a UK bank transfer.
    """

    due: Decimal
    overdue: Decimal
    to_pay: Decimal
    reference: str


def owed_of(invoices: Sequence[InvoiceBalance], announced: Collection[int], now: datetime) -> OwedSums:
    """Return what is due of invoices; `announced` are the numbers of those that the customer says are paid."""
    overdue = [invoice for invoice in invoices if invoice.due_at < now]
    to_pay = [invoice for invoice in overdue if invoice.invoice not in announced]
    numbers = " ".join(str(invoice.invoice) for invoice in to_pay)
    return OwedSums(
        due=_sum(invoices),
        overdue=_sum(overdue),
        to_pay=_sum(to_pay),
        reference=next((text for text in (f"Invoice {numbers}", numbers) if numbers and len(text) <= _LONGEST), ""),
    )


def _sum(invoices: Sequence[InvoiceBalance]) -> Decimal:
    return sum((invoice.due for invoice in invoices), NOTHING)
