"""Suggests where the money of unplaced lines goes, places a line by hand, or sets it aside.

Placing a line locks the account first, as everything that moves money does, and the line last. Setting it aside moves
no money, so it locks the line alone.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.audit.record import audit
from tradecounter.billing.queries.ledger import InvoiceBalance, balances_of
from tradecounter.billing.rules import draw
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, invalid, require_text
from tradecounter.kit.money import NOTHING
from tradecounter.kit.numbers import Pounds
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.kit.wire import made_from
from tradecounter.payments.queries.bank_lines import (
    BankLineRecord,
    State,
    fetch_bank_line,
    lock_bank_line,
    set_aside,
    set_placed,
)
from tradecounter.payments.queries.suggested_places import Payer, customers_to_suggest
from tradecounter.payments.record_payment import (
    LONGEST_REFERENCE,
    PaidInvoice,
    PayingCustomer,
    PaymentRequest,
    record_payment,
)
from tradecounter.payments.wire import Allocation, PlacedLine, StoredLine, present_line

_MOST_SUGGESTED = 5
_NEAR_AMOUNT = Decimal("0.1")  # of an amount, by which an invoice may differ that comes near it
_MOST_EXACT = 2  # invoices of one customer whose due amount is that of the line


class Suggestion(Struct, frozen=True):
    """Where a line's money may go: to an invoice, or without one to a customer's oldest due invoices.

    `pays` is what each invoice gets, `rest` what stays on the account. It `fits` if the amount is exactly what is due
    of these invoices. Otherwise `nearest` is an invoice that it nearly pays, if there is one, and `misses` is by how
    many pounds: more than 0 if more is due.
    """

    payer: Payer
    invoice: int | None
    pays: Sequence[Allocation]
    rest: Decimal
    fits: bool
    nearest: InvoiceBalance | None = None
    misses: Decimal = NOTHING

    @property
    def is_evident(self) -> bool:
        """Whether both the amount and the payer point there."""
        return self.fits and self.payer.is_known

    @property
    def is_likely(self) -> bool:
        """Whether the amount, an earlier payment or the customer's whole name points there."""
        return self.fits or self.payer.times > 0 or self.payer.is_named


async def suggest_places(tx: Transaction, lines: Sequence[BankLineRecord]) -> dict[int, list[Suggestion]]:
    """Return the most likely places of lines that wait, by the lines' ids, the best first.

    A line's money may go to customers

    - who owe exactly its amount,
    - who have paid with its payer's name before,
    - whose name, the beginning of their name or an invoice of theirs is in the line.

    A line with an unreadable amount or day has no suggestions.
    """
    waiting = {line.id: line for line in lines if line.state != "placed"}
    if not waiting:
        return {}
    payers = await customers_to_suggest(tx, list(waiting))
    due = await balances_of(tx, {payer.customer_id for payer in payers}, [])
    suggestions: dict[int, list[Suggestion]] = {}
    for payer in payers:
        amount = waiting[payer.line_id].amount or NOTHING
        owed = list(due.get(payer.customer_id, {}).values())
        suggestions.setdefault(payer.line_id, []).extend(_likely_places(payer, owed, amount))
    return {line_id: sorted(places, key=_unlikely)[:_MOST_SUGGESTED] for line_id, places in suggestions.items()}


def _likely_places(payer: Payer, due: Sequence[InvoiceBalance], amount: Decimal) -> Iterator[Suggestion]:
    """Yield where a line's money may go at a customer, whose due invoices are given, the oldest first.

    These are each invoice of exactly this amount, and the oldest invoices if several come to exactly this amount. If
    the line hints at the customer and no invoice is of this amount, also the oldest invoices that it pays in part.
    """
    oldest = [Allocation(each.invoice, share) for each, share in draw(due, [each.due for each in due], amount)]
    rest = amount - sum((share.amount for share in oldest), NOTHING)
    is_oldest_exact = (
        not rest and bool(oldest) and all(share.amount == each.due for share, each in zip(oldest, due, strict=False))
    )
    exact = [each.invoice for each in due if each.due == amount][:_MOST_EXACT]
    for number in exact:
        yield Suggestion(payer, number, [Allocation(number, amount)], NOTHING, fits=True)
    if (is_oldest_exact and len(oldest) > 1) or (payer.is_hinted and not exact):
        nearest = None if is_oldest_exact else _nearest(due, amount)
        misses = NOTHING if nearest is None else nearest.due - amount
        yield Suggestion(payer, None, oldest, rest, fits=is_oldest_exact, nearest=nearest, misses=misses)


def _nearest(due: Sequence[InvoiceBalance], amount: Decimal) -> InvoiceBalance | None:
    """Return the one of several invoices that an amount nearly pays, or None."""
    near = [each for each in due if abs(each.due - amount) <= amount * _NEAR_AMOUNT]
    return min(near, key=lambda each: abs(each.due - amount), default=None) if len(due) > 1 else None


def _unlikely(place: Suggestion) -> tuple[bool, bool, bool, bool, int, int]:
    """Return the sort key of suggestions, the best first."""
    payer, fits = place.payer, place.fits
    is_hinted = fits and payer.is_hinted
    return not place.is_evident, not is_hinted, not fits, not payer.is_known, -payer.times, payer.customer_id


Value = TypeVar("Value")


class Placement(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a line's money goes: to an invoice, or to a customer and there to the oldest due invoices.

    `amount` and `received_on` are needed where they could not be read; elsewhere they may only repeat what the file
    says. `force` allows a duplicate.
    """

    customer_id: PayingCustomer | UnsetType = UNSET
    invoice: PaidInvoice | UnsetType = UNSET
    amount: Annotated[Pounds, Meta(description="Pounds, if the file's could not be read.")] | UnsetType = UNSET
    received_on: (
        Annotated[date, Meta(description="When it was received, if the file's could not be read.")] | UnsetType
    ) = UNSET
    force: Annotated[bool, Meta(description="Record it although the same reference, amount and date are recorded.")] = (
        False
    )


async def place_bank_line(tx: Transaction, line_id: int, placement: Placement, now: datetime) -> PlacedLine:
    """Record a line's payment; what is not due stays on the account.

    Raises DomainError: not found, invalid, conflict (placed already, or a duplicate).
    """
    line = await fetch_bank_line(tx, line_id)
    _require_open(line_id, line.state, "unplaced", "set_aside")
    new = PaymentRequest(
        invoice=placement.invoice,
        customer_id=placement.customer_id,
        amount=_read_or_requested("amount", line.amount, placement.amount),
        received_on=_read_or_requested("received_on", line.received_on, placement.received_on),
        reference=line.reference[:LONGEST_REFERENCE],
        force=placement.force,
    )
    payment = await record_payment(tx, new, now)
    _require_open(line_id, await lock_bank_line(tx, line_id), "unplaced", "set_aside")
    line = await fetch_bank_line(tx, line_id)  # as it is after the wait for the lock
    await set_placed(tx, [(line_id, payment.id, "placed by hand")], None, now)
    after = {"state": "placed", "payment_id": payment.id, "customer_id": payment.customer_id}
    audit(tx, "bank_line.place", _subject(line_id), now, before=_audited_line(line), after=after)
    return made_from(present_line(await fetch_bank_line(tx, line_id)), PlacedLine, payment=payment)


async def set_bank_line_aside(tx: Transaction, line_id: int, reason: str, now: datetime) -> StoredLine:
    """Mark a line as one that pays nothing here. Raises DomainError: not found, invalid, conflict (placed already)."""
    reason = require_text("reason", reason, LONGEST_REASON)
    _require_open(line_id, await lock_bank_line(tx, line_id), "unplaced")
    line = await fetch_bank_line(tx, line_id)
    set_aside(tx, line_id, reason, now)
    after = {"state": "set_aside", "why": reason}
    audit(tx, "bank_line.set_aside", _subject(line_id), now, before=_audited_line(line), after=after)
    return present_line(await fetch_bank_line(tx, line_id))


def _require_open(line_id: int, state: State, *allowed: State) -> None:
    if state not in allowed:
        raise DomainError(Kind.CONFLICT, f"bank line {line_id} is {state.replace('_', ' ')}")


def _read_or_requested(field: str, read: Value | None, requested: Value | UnsetType) -> Value:
    """Return what was read from the line, or else what the request has.

    Raises DomainError (invalid) if both lack it, or if they differ.
    """
    if requested is UNSET:
        if read is None:
            raise invalid(field, "is required: it could not be read from the file")
        return read
    if read is not None and requested != read:
        raise invalid(field, f"is {read}, as the file says: leave it out")
    return requested


def _subject(line_id: int) -> str:
    return f"bank-line/{line_id}"


def _audited_line(line: BankLineRecord) -> dict[str, Any]:
    return {"state": line.state, "why": line.why}
