"""The rules of billing (decisions, invoice): when to invoice, totals, terms, payments. Amounts are pounds."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from tradecounter.billing.invoice_document import InvoiceLine, VatTotal
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.kit.local_time import day_in_words
from tradecounter.kit.money import NOTHING, rounded
from tradecounter.ordering.lines import OrderLine
from tradecounter.ordering.rules import COMPLETED, INVOICED

_MOST_NAMED = 5


def require_all_dispatched(lines: Sequence[OrderLine]) -> None:
    """Raise DomainError (precondition failed) if any unit is not dispatched; the message lists the remaining units."""
    left = [line for line in lines if line.left]
    if not left:
        return
    named = [f"{line.left} of {line.quantity} {line.sku}" for line in left[:_MOST_NAMED]]
    if len(left) > _MOST_NAMED:
        named.append(f"{len(left) - _MOST_NAMED} more lines")
    raise DomainError(
        Kind.PRECONDITION_FAILED,
        f"an invoice is issued once the whole order is dispatched; still to be dispatched: {', '.join(named)}",
    )


def status_with(due: Decimal) -> str:
    """Return the status of an invoiced order with this amount left to pay."""
    return INVOICED if due else COMPLETED


def vat_totals(lines: Sequence[InvoiceLine]) -> list[VatTotal]:
    """Return the totals at each rate of VAT, the highest rate first."""
    return [
        VatTotal(
            rate,
            sum((line.net for line in lines if line.vat_rate == rate), NOTHING),
            sum((line.vat for line in lines if line.vat_rate == rate), NOTHING),
        )
        for rate in sorted({line.vat_rate for line in lines}, reverse=True)
    ]


def payment_terms(term_days: int, due_on: date, due: Decimal) -> str:
    """Return the terms of payment in words."""
    if due == NOTHING:
        return "Nothing is due."
    if term_days == 0:
        return f"Payment is due on the invoice date, {day_in_words(due_on)}."
    days = "1 day" if term_days == 1 else f"{term_days} days"
    return f"Payment is due within {days} of the invoice date, by {day_in_words(due_on)}."


def require_payable(amount: Decimal, due: Decimal) -> None:
    """Raise DomainError (invalid) unless an amount is positive, in whole pence and at most `due`."""
    if due == NOTHING:
        raise invalid("amount", "nothing is due: the order is paid in full")
    if not amount.is_finite() or amount <= 0:
        raise invalid("amount", f"must be more than 0 and at most {due}, which is due")
    if amount > due:
        raise invalid("amount", f"must be at most {due}, which is due")
    if amount != rounded(amount):
        raise invalid("amount", "must be in whole pence: at most two decimal places")
