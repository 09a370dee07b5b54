"""What a customer owes of its invoices, and the reference of a payment of all that is overdue."""

from collections.abc import Collection, Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct

from tradecounter.billing.queries.ledger import OpenInvoice
from tradecounter.kit.money import NOTHING

_LONGEST = 18  # characters of the reference of a payment between banks of the UK


class Owed(Struct, frozen=True):
    """What is due of a customer's invoices, and how much of it is overdue, in pounds.

    `to_pay` is what is overdue without what the customer has told that it has paid. `reference` has the numbers of
    those invoices; it is empty for more of them than banks of the UK have room for.
    """

    due: Decimal
    overdue: Decimal
    to_pay: Decimal
    reference: str


def owed_of(invoices: Sequence[OpenInvoice], told: Collection[int], now: datetime) -> Owed:
    """Return what is owed of invoices; `told` are those that the customer has told that it has paid."""
    overdue = [invoice for invoice in invoices if invoice.due_at < now]
    to_pay = [invoice for invoice in overdue if invoice.invoice not in told]
    numbers = " ".join(str(invoice.invoice) for invoice in to_pay)
    return Owed(
        due=_sum(invoices),
        overdue=_sum(overdue),
        to_pay=_sum(to_pay),
        reference=next((text for text in (f"Invoice {numbers}", numbers) if numbers and len(text) <= _LONGEST), ""),
    )


def _sum(invoices: Sequence[OpenInvoice]) -> Decimal:
    return sum((invoice.due for invoice in invoices), NOTHING)
