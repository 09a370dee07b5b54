"""Rolls back the import of a bank file, within 90 days."""

from datetime import datetime

from tradecounter.audit.record import audit
from tradecounter.billing.queries.ledger import lock_balances
from tradecounter.bulk.roll_back import require_rollable
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, FieldError, Kind
from tradecounter.kit.text import and_more
from tradecounter.kit.wire import made_from
from tradecounter.orders.queries.orders import lock_orders
from tradecounter.payments.queries.bank_files import (
    LineOfFile,
    fetch_bank_file,
    hand_over_lines,
    lock_bank_file,
    lock_lines_of_file,
    paid_by,
    undo_lines,
)
from tradecounter.payments.record_payment import reverse_locked
from tradecounter.payments.wire import RolledBackFile

_MOST_NAMED = 20


async def roll_back_bank_file(tx: Transaction, file_id: int, now: datetime, *, force: bool = False) -> RolledBackFile:
    """Undo the import of a bank file; with `force`, leave the lines alone that have changed since.

    The payments of the file are reversed. Lines that it stored are removed, so that a corrected file can be imported,
    unless another file has them too. All other lines that it placed wait again. The accounts are locked first, then the
    orders, then the lines.

    Raises DomainError: not found, conflict (rolled back already, too old, lines have changed since, or a part of a
    payment was refunded).
    """
    bank_file = await lock_bank_file(tx, file_id)
    require_rollable(f"bank file {file_id}", bank_file.at, bank_file.rolled_back_at, now)
    await lock_balances(tx, {customer_id for customer_id, _ in await paid_by(tx, file_id)})
    # Until the accounts were locked, other invoices could take money of these payments.
    await lock_orders(tx, {order_id for _, order_id in await paid_by(tx, file_id) if order_id is not None})
    lines = await lock_lines_of_file(tx, file_id)
    kept = [line for line in lines if _has_changed(line)]
    if kept and not force:
        raise _conflict(kept)
    undone = [line for line in lines if not _has_changed(line)]
    reversed_ = [line.payment_id for line in undone if line.payment_id is not None and line.state == "placed"]
    await reverse_locked(tx, reversed_, f"bank file {file_id} was rolled back", now)
    own = [line.id for line in undone if line.is_own]
    handed_over = await hand_over_lines(tx, file_id, own, now)
    removed = [line_id for line_id in own if line_id not in handed_over]
    restored = [line.id for line in undone if line.was_placed_by_it and line.id not in removed]
    await undo_lines(tx, file_id, removed, restored, f"bank file {file_id}, which had placed it, was rolled back", now)
    counts = {"reversed": len(reversed_), "removed": len(removed), "kept": len(kept)}
    audit(tx, "bank_file.roll_back", f"bank-file/{file_id}", now, after=counts)
    return made_from(
        await fetch_bank_file(tx, file_id), RolledBackFile, reversed=reversed_, kept=[line.id for line in kept]
    )


def _has_changed(line: LineOfFile) -> bool:
    """Return whether a line has changed since the import."""
    if line.was_placed_by_it:
        return line.state != "placed"
    return line.state != "unplaced" or line.payment_id is not None


def _conflict(lines: list[LineOfFile]) -> DomainError:
    named = and_more([str(line.line) for line in lines], _MOST_NAMED)
    one = len(lines) == 1
    what = f"line {named} has changed" if one else f"lines {named} have changed"
    return DomainError(
        Kind.CONFLICT,
        f"{what} since, by hand or by a reversed payment; force the roll-back to leave {'it' if one else 'them'} as "
        f"{'it is' if one else 'they are'}",
        field_errors=[FieldError(f"line {line.line}", "has changed since") for line in lines],
    )
