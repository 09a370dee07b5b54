"""The step of billing that the API and the command take."""

from datetime import datetime

from msgspec import UNSET

from tradecounter.billing.issue_credit_note import issue_credit_note
from tradecounter.billing.operations.wire import CreditNoteRequest
from tradecounter.billing.reseller_wire import CreditNote
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import invalid
from tradecounter.letterhead.seller import Letterhead


async def credit_invoice(
    tx: Transaction, number: int, body: CreditNoteRequest, letterhead: Letterhead, now: datetime
) -> CreditNote:
    """Credit lines or an amount of an invoice. Raises DomainError as `issue_credit_note` does."""
    credit = body.amount if body.lines is UNSET else body.lines
    if credit is UNSET or UNSET not in (body.lines, body.amount):
        raise invalid("lines", "send either lines or amount")
    return await issue_credit_note(tx, number, credit, body.reason, letterhead, now)
