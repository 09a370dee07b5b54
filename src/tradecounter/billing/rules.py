"""What an invoice contains, its totals, terms and age, and what a payment may be. Amounts are pounds."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal, TypeVar

from msgspec import Meta, Struct

from tradecounter.billing.invoice_document import InvoiceLine, VatTotal
from tradecounter.kit.clock import day_begins, day_in_words, uk_date
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.kit.money import NOTHING, in_pounds, percentage, rounded
from tradecounter.kit.text import and_more, plural
from tradecounter.orders.lines import OrderLine

Source = TypeVar("Source")

InvoiceState = Literal["paid", "credited", "overdue", "part paid", "due"]  # as people see it

_MOST_NAMED = 5
_ABSURD = 10**12  # pounds


def require_all_dispatched(lines: Sequence[OrderLine]) -> None:
    """Raise DomainError (conflict) if any unit is not dispatched; the message lists the remaining units."""
    left = [line for line in lines if line.undispatched]
    if not left:
        return
    units = [f"{line.undispatched} of {line.quantity} {line.sku}" for line in left]
    raise DomainError(
        Kind.CONFLICT,
        "an invoice is issued once the whole order is dispatched; still to be dispatched: "
        f"{and_more(units, _MOST_NAMED)}",
    )


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
    return f"Payment is due within {plural(term_days, 'day')} of the invoice date, by {day_in_words(due_on)}."


def require_payable(amount: Decimal, due: Decimal) -> None:
    """Raise DomainError (invalid) unless an amount is positive, in whole pence and at most `due`."""
    if due == NOTHING:
        raise invalid("amount", "nothing is due: the order is paid in full")
    require_at_most(amount, due, "which is due")


def require_at_most(amount: Decimal, most: Decimal, why: str) -> None:
    """Raise DomainError (invalid) unless an amount is positive, in whole pence and at most `most`."""
    if not amount.is_finite() or amount <= 0:
        raise invalid("amount", f"must be more than 0 and at most {in_pounds(most)}, {why}")
    if amount > most:
        raise invalid("amount", f"must be at most {in_pounds(most)}, {why}")
    _require_whole_pence(amount)


def require_amount(amount: Decimal) -> None:
    """Raise DomainError (invalid) unless an amount is positive, in whole pence and not too large."""
    if not amount.is_finite() or not 0 < amount < _ABSURD:
        raise invalid("amount", f"must be more than 0 and less than {_ABSURD:,}")
    _require_whole_pence(amount)


def _require_whole_pence(amount: Decimal) -> None:
    if amount != rounded(amount):
        raise invalid("amount", "must be in whole pence: at most two decimal places")


def require_period(since: date, until: date) -> None:
    """Raise DomainError (invalid) if a period ends before it starts."""
    if since > until:
        raise invalid("from", f"must not be after {until}")


class BilledUnits(Struct, frozen=True):
    """What invoices or credit notes contain of a line so far: units, net and VAT."""

    units: int = 0
    net: Decimal = NOTHING
    vat: Decimal = NOTHING


class Share(Struct, frozen=True):
    """The units of an order's line that an invoice contains, and their net and VAT."""

    line: OrderLine
    units: int
    net: Decimal
    vat: Decimal


def shares_to_invoice(
    lines: Sequence[OrderLine], invoiced: Mapping[int | None, BilledUnits], tax_rate: Decimal
) -> list[Share]:
    """Return what is dispatched, and neither invoiced nor returned before an invoice.

    The VAT of a line is the VAT of all its units invoiced so far, rounded half up, less what earlier invoices contain.
    So the last invoice takes the pennies, and the invoices add up to the order.
    """
    shares = []
    for line in lines:
        before = invoiced.get(line.id, BilledUnits())
        units = line.dispatched - line.unbilled - before.units
        if units > 0:
            so_far = line.unit_cost * (line.dispatched - line.unbilled)
            shares.append(Share(line, units, so_far - before.net, percentage(so_far, tax_rate) - before.vat))
    return shares


def can_invoice(units: int, left: int, *, invoiced: bool) -> bool:
    """Return whether an order can be invoiced now, by the units or lines to invoice and the units left to dispatch.

    If all units came back before the first invoice, the shipping alone is invoiced, even if it is free: an order is
    completed by an invoice.
    """
    return units > 0 or not (left or invoiced)


def draw(sources: Iterable[Source], amounts: Iterable[Decimal], wanted: Decimal) -> list[tuple[Source, Decimal]]:
    """Return what each source contributes to an amount, in their sequence; a source gives at most its own amount."""
    shares = []
    for source, amount in zip(sources, amounts, strict=True):
        if not wanted:
            break
        share = min(amount, wanted)
        if share > 0:
            shares.append((source, share))
            wanted -= share
    return shares


def counts_from(received_on: date, now: datetime) -> datetime:
    """Return the moment from which a payment counts on statements: now, or the start of an earlier day."""
    return now if received_on == uk_date(now) else day_begins(received_on)


def invoice_state(due: Decimal, paid: Decimal, credited: Decimal, due_at: datetime, now: datetime) -> InvoiceState:
    """Return the state of an invoice that people see."""
    if due > 0:
        if due_at < now:
            return "overdue"
        return "part paid" if paid > 0 else "due"
    return "credited" if credited > 0 and paid == NOTHING else "paid"


class Ageing(Struct, frozen=True, kw_only=True):
    """What is due of invoices, by days past their due date."""

    not_due: Annotated[Decimal, Meta(description="Not yet due, in pounds.")]
    days_1_30: Annotated[Decimal, Meta(description="1 to 30 days overdue.")]
    days_31_60: Annotated[Decimal, Meta(description="31 to 60 days overdue.")]
    days_61_90: Annotated[Decimal, Meta(description="61 to 90 days overdue.")]
    over_90: Annotated[Decimal, Meta(description="More than 90 days overdue.")]


AGES = {
    "not_due": "Not due yet",
    "days_1_30": "1 to 30 days",
    "days_31_60": "31 to 60 days",
    "days_61_90": "61 to 90 days",
    "over_90": "Over 90 days",
}
LAST_DAYS = (0, 30, 60, 90)  # of each age but the last, which has no end
