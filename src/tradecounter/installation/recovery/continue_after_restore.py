"""Continues after a restore: nothing that was given out since the restored moment is given out again."""

from datetime import datetime
from typing import Any

from msgspec import Struct

from tradecounter.access.sessions import end_all_access
from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import NewEvent, record_events
from tradecounter.installation.recovery.queries import all_customers, lock_numbers, skip_numbers
from tradecounter.kit.errors import invalid

EVENTS_PER_ID = 10  # sequences of events that are left out for each id


class Continuation(Struct):
    """Where the restored data ended, and which documents are lost (first and last number)."""

    kept_until: datetime | None
    last_sequence: int
    ids_left_out: int
    lost_invoices: tuple[int, int] | None
    lost_credit_notes: tuple[int, int] | None


async def continue_after_restore(
    tx: Transaction, *, last_invoice: int, last_credit_note: int, ids: int, now: datetime
) -> Continuation:
    """Leave out `ids` of each kind, and go on after the last invoice and credit note that were ever issued.

    Ends all sessions and unused links, which may have ended since. Everyone who reads events learns of the restore.
    Raises DomainError (invalid) for a document older than the database's last one.
    """
    kept = await lock_numbers(tx)
    for name, given, stored in (
        ("last-invoice", last_invoice, kept.invoice),
        ("last-credit-note", last_credit_note, kept.credit_note),
    ):
        if given < stored:
            raise invalid(name, f"the restored database has {stored} already")
    await skip_numbers(
        tx, ids=ids, sequences=ids * EVENTS_PER_ID, last_invoice=last_invoice, last_credit_note=last_credit_note
    )
    await end_all_access(tx, now)
    continuation = Continuation(
        kept_until=kept.until,
        last_sequence=kept.sequence,
        ids_left_out=ids,
        lost_invoices=_after(kept.invoice, last_invoice),
        lost_credit_notes=_after(kept.credit_note, last_credit_note),
    )
    await _tell(tx, continuation, now)
    after = {
        "kept_until": continuation.kept_until,
        "last_sequence": continuation.last_sequence,
        "ids_left_out": ids,
        "last_invoice": last_invoice,
        "last_credit_note": last_credit_note,
    }
    audit(tx, "log.restore", "log", now, after=after)
    return continuation


async def _tell(tx: Transaction, continuation: Continuation, now: datetime) -> None:
    where: dict[str, Any] = {"kept_until": continuation.kept_until, "last_sequence": continuation.last_sequence}
    lost = {"lost_invoices": continuation.lost_invoices, "lost_credit_notes": continuation.lost_credit_notes}
    events = [NewEvent("log", None, {**where, **lost})]
    events += [NewEvent(f"customer/{customer}", customer, where) for customer in await all_customers(tx)]
    record_events(tx, "log.restored", events, now)


def _after(kept: int, last: int) -> tuple[int, int] | None:
    return (kept + 1, last) if last > kept else None
