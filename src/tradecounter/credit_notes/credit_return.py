"""Receives units of a return and credits them at once."""

from collections.abc import Mapping
from datetime import datetime

from tradecounter.audit.record import audit
from tradecounter.billing.queries.ledger import lock_balance
from tradecounter.credit_notes.issue_credit_note import issue_credit_note
from tradecounter.credit_notes.reseller_wire import ReceivedReturn, present_received
from tradecounter.credit_notes.rules import CreditLine
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import named_by
from tradecounter.letterhead.seller import Letterhead
from tradecounter.returns.handle_returns import fetch_return, receive_return, settle_returns, shown_return
from tradecounter.returns.queries import StoredReturn, lines_of_returns, units_on_invoices
from tradecounter.returns.wire import Receipt, return_number


async def receive_and_credit(
    tx: Transaction, number: str, receipt: Receipt, letterhead: Letterhead, now: datetime
) -> ReceivedReturn:
    """Receive units of a return; with `credit`, credit all its received units that are invoiced and not credited yet.

    Units of a line that were credited without a return count as those that came back, so none is credited twice.

    Raises DomainError as `receive_return` and `issue_credit_note` do.
    """
    found = await fetch_return(tx, number)
    if receipt.credit:
        await lock_balance(tx, found.customer_id)
    await receive_return(tx, number, receipt.items, now)
    for closed in await settle_returns(tx, found.order_id, now, found.id):
        after = {"state": "closed", "number": closed}
        audit(tx, "return.close", f"order/{found.order_reference}", now, before={"state": "received"}, after=after)
    creditable = await creditable_of_return(tx, found) if receipt.credit else {}
    with named_by(lambda _: "credit"):
        notes = [
            await issue_credit_note(tx, invoice, lines, reason_of(found), letterhead, now, returned=found.id)
            for invoice, lines in creditable.items()
        ]
    return present_received(await shown_return(tx, number), notes)


async def creditable_of_return(tx: Transaction, found: StoredReturn) -> dict[int, list[CreditLine]]:
    """Return which received units of a return can be credited, by invoice, the oldest first.

    Units that cost nothing are credited with others of their invoice, and need no credit note of their own.
    """
    lines = (await lines_of_returns(tx, [found.id]))[found.id]
    found_units = await creditable_units(tx, found.order_id, {line.line_id: line.uncredited for line in lines})
    free = {line.line_id for line in lines if line.is_free}
    return {
        invoice: units for invoice, units in found_units.items() if not free.issuperset(each.line_id for each in units)
    }


async def creditable_units(tx: Transaction, order_id: int, units: Mapping[int, int]) -> dict[int, list[CreditLine]]:
    """Return which units of an order's lines, by line id, can be credited on which invoice, the oldest first.

    Units that are not invoiced, or are credited already, are left out.
    """
    left, wanted = dict(units), dict[int, list[CreditLine]]()
    for line in await units_on_invoices(tx, order_id):
        share = min(left.get(line.line_id, 0), line.left)
        if share > 0:
            wanted.setdefault(line.invoice, []).append(CreditLine(line.line_id, share))
            left[line.line_id] -= share
    return wanted


def reason_of(found: StoredReturn) -> str:
    """Return the reason that a credit note of a return has."""
    return f"Return {return_number(found.id)}: {found.reason}"
