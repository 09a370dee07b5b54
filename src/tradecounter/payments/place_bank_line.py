"""Places a line of a bank file by hand, or sets it aside (specification, a bank file).

Both lock the account first, as all steps that move money do, and the line last.
"""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict

from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, invalid, require_text
from tradecounter.kit.number_types import Id
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.payments.queries.bank_lines import (
    BankLineRecord,
    State,
    fetch_bank_line,
    lock_bank_line,
    set_aside,
    set_placed,
)
from tradecounter.payments.record_payment import LONGEST_REFERENCE, NewPayment, pay_account, pay_invoice
from tradecounter.payments.reseller_wire import PlacedLine, StoredLine, present_line

Value = TypeVar("Value")


class Placement(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a line's money goes: to an invoice, or to a customer and there to the oldest due invoices.

    `amount` and `received_on` are needed, and allowed, only where they could not be read. `force` allows a duplicate.
    """

    customer_id: (
        Annotated[Id, Meta(description="The customer who pays: the oldest due invoices first.")] | UnsetType
    ) = UNSET
    invoice: Annotated[Id, Meta(description="The invoice that it pays.")] | UnsetType = UNSET
    amount: Annotated[Decimal, Meta(description="Pounds, if the file's could not be read.")] | UnsetType = UNSET
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
    _require(line_id, line.state, "unplaced", "set_aside")
    new = NewPayment(
        amount=_read("amount", line.amount, placement.amount),
        received_on=_read("received_on", line.received_on, placement.received_on),
        reference=line.reference[:LONGEST_REFERENCE],
        force=placement.force,
    )
    if placement.invoice is not UNSET and placement.customer_id is UNSET:
        payment = await pay_invoice(tx, placement.invoice, new, now)
    elif placement.customer_id is not UNSET and placement.invoice is UNSET:
        payment = await pay_account(tx, placement.customer_id, new, now)
    else:
        raise invalid("invoice", "send either invoice or customer_id")
    _require(line_id, await lock_bank_line(tx, line_id), "unplaced", "set_aside")
    await set_placed(tx, [(line_id, payment.id, "placed by hand")], None, now)
    after = {"state": "placed", "payment_id": payment.id, "customer_id": payment.customer_id}
    audit(tx, "bank_line.place", _subject(line_id), now, before=_shown(line), after=after)
    placed = present_line(await fetch_bank_line(tx, line_id))
    return PlacedLine(**asdict(placed), payment=payment)


async def set_bank_line_aside(tx: Transaction, line_id: int, reason: str, now: datetime) -> StoredLine:
    """Mark a line as one that pays nothing here. Raises DomainError: not found, invalid, conflict (placed already)."""
    reason = reason.strip()
    require_text("reason", reason, LONGEST_REASON)
    line = await fetch_bank_line(tx, line_id)
    _require(line_id, await lock_bank_line(tx, line_id), "unplaced")
    set_aside(tx, line_id, reason, now)
    after = {"state": "set_aside", "why": reason}
    audit(tx, "bank_line.set_aside", _subject(line_id), now, before=_shown(line), after=after)
    return present_line(await fetch_bank_line(tx, line_id))


def _require(line_id: int, state: State, *allowed: State) -> None:
    if state not in allowed:
        raise DomainError(Kind.CONFLICT, f"bank line {line_id} is {state.replace('_', ' ')}")


def _read(field: str, read: Value | None, given: Value | UnsetType) -> Value:
    """Return what was read of a line, or what is given where that could not be read. Raises DomainError (invalid)."""
    if given is UNSET or given is None:
        if read is None:
            raise invalid(field, "is required: it could not be read from the file")
        return read
    if read is not None and given != read:
        raise invalid(field, f"is {read}, as the file says: leave it out")
    return given


def _subject(line_id: int) -> str:
    return f"bank-line/{line_id}"


def _shown(line: BankLineRecord) -> dict[str, Any]:
    return {"state": line.state, "why": line.why}
