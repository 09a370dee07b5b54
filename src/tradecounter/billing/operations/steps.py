"""Steps of billing that the API and the pages take."""

from datetime import datetime

from msgspec import UNSET

from tradecounter.billing.issue_credit_note import issue_credit_note
from tradecounter.billing.operations.wire import CreditNoteRequest, PaymentRequest
from tradecounter.billing.reseller_wire import CreditNote
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import invalid
from tradecounter.letterhead.seller import Letterhead
from tradecounter.payments.record_payment import pay_account, pay_invoice
from tradecounter.payments.wire import Payment


async def credit_invoice(
    tx: Transaction,
    number: int,
    body: CreditNoteRequest,
    letterhead: Letterhead,
    now: datetime,
    *,
    returned: int | None = None,
) -> CreditNote:
    """Credit lines or an amount of an invoice. Raises DomainError as `issue_credit_note` does."""
    credit = body.amount if body.lines is UNSET else body.lines
    if credit is UNSET or UNSET not in (body.lines, body.amount):
        raise invalid("lines", "send either lines or amount")
    return await issue_credit_note(tx, number, credit, body.reason, letterhead, now, returned=returned)


async def record_new_payment(tx: Transaction, body: PaymentRequest, now: datetime) -> Payment:
    """Record a payment of an invoice or of a customer. Raises DomainError as `pay_invoice` and `pay_account` do."""
    if body.invoice is not UNSET and body.customer_id is UNSET:
        return await pay_invoice(tx, body.invoice, body, now)
    if body.customer_id is not UNSET and body.invoice is UNSET:
        return await pay_account(tx, body.customer_id, body, now)
    raise invalid("invoice", "send either invoice or customer_id")
