"""Issues credit notes against invoices."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from tradecounter.audit.record import audit
from tradecounter.billing.invoice_document import CreditNoteDocument, InvoiceDocument, InvoiceLine
from tradecounter.billing.invoices import require_own_seller
from tradecounter.billing.move_money import put_back_on_account
from tradecounter.billing.print_invoice import print_credit_note
from tradecounter.billing.queries.invoice_records import InvoiceRecord, fetch_invoice, invoice_document
from tradecounter.billing.queries.ledger import allocated_to, credit_invoice, invoice_balances, lock_balance
from tradecounter.billing.rules import BilledUnits, vat_totals
from tradecounter.credit.queries import discharge
from tradecounter.credit_notes.queries import (
    credited_of,
    fetch_credit_note,
    insert_credit_note,
    invoiced_lines,
    next_credit_note_number,
)
from tradecounter.credit_notes.reseller_wire import CreditNote, present_credit_note
from tradecounter.credit_notes.rules import CreditLine, CreditShare, left_of, share_of_amount, shares_of_lines
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import ErrorCollector, invalid, require_text
from tradecounter.kit.money import NOTHING
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.kit.wire import made_from
from tradecounter.letterhead.seller import Letterhead
from tradecounter.orders.history import record_order_event
from tradecounter.orders.queries.changes import settle
from tradecounter.orders.queries.orders import lock_order
from tradecounter.returns.handle_returns import settle_returns


class Creditable(Struct, frozen=True):
    """What can still be credited of an invoice: the units of each line, in the invoice's sequence, and the net."""

    units: list[int]
    net: Decimal


async def creditable_of(tx: Transaction, invoice: int) -> Creditable:
    """Return what can still be credited of an invoice."""
    lines, credited = await invoiced_lines(tx, invoice), await credited_of(tx, invoice)
    units = [line.quantity - credited.get(line.position, BilledUnits()).units for line in lines]
    return Creditable(units, left_of(lines, credited.values()).net)


async def issue_credit_note(
    tx: Transaction,
    invoice: int,
    credit: Sequence[CreditLine] | Decimal,
    reason: str,
    letterhead: Letterhead,
    now: datetime,
    *,
    returned: int | None = None,
) -> CreditNote:
    """Credit units of an invoice's lines, or an amount without VAT; what was paid for it is unallocated again.

    The units count as units that came back: first of the return with the id `returned`, then of the order's other
    returns.

    Raises DomainError: not found, invalid (no reason, unknown lines, or more than can be credited), conflict (the
    settings still contain the example seller).
    """
    collector = ErrorCollector()
    with collector.collecting():
        reason = require_text("reason", reason, LONGEST_REASON)
    invoice_record = await fetch_invoice(tx, invoice)
    await lock_balance(tx, invoice_record.customer_id)
    order = await lock_order(tx, invoice_record.order_id)
    await require_own_seller(tx, letterhead)
    original = await invoice_document(tx, invoice)
    vat_rate = original.lines[0].vat_rate  # an order, and so an invoice, has one rate
    shares: list[CreditShare] = []
    with collector.collecting():
        shares = await _credit_shares(tx, invoice, credit, vat_rate)
    collector.check()
    gross = sum((share.net + share.vat for share in shares), NOTHING)
    if gross <= 0:
        raise invalid("lines", "cost nothing, so there is nothing to credit")
    await _lower_due(tx, invoice_record, gross, now)
    lines = [_credited_line(original, share, vat_rate, reason) for share in shares]
    document = _credit_note(await next_credit_note_number(tx), original, lines, reason, letterhead, now)
    # The paper shows the number, so other credit notes wait while it is printed, some milliseconds.
    pdf = await asyncio.to_thread(print_credit_note, document, now, letterhead.logo)
    insert_credit_note(tx, document, shares, pdf, now)
    queue(tx, "mail_credit_note", order_id=order.id, number=document.number)
    issued = {"number": document.number, "invoice": invoice, "gross": gross, "reason": reason}
    record_order_event(tx, "credit_note.issued", order, now, credit_note=issued)
    closed = await settle_returns(tx, order.id, now, returned)
    after = issued | ({"closed_returns": closed} if closed else {})
    audit(tx, "credit_note.issue", f"credit-note/{document.number}", now, after=after)
    return present_credit_note(await fetch_credit_note(tx, document.number))


async def _credit_shares(
    tx: Transaction, invoice: int, credit: Sequence[CreditLine] | Decimal, vat_rate: Decimal
) -> list[CreditShare]:
    lines, credited = await invoiced_lines(tx, invoice), await credited_of(tx, invoice)
    left = left_of(lines, credited.values())
    if isinstance(credit, Decimal):
        return [share_of_amount(credit, left, vat_rate)]
    by_position = {position: billed for position, billed in credited.items() if position is not None}
    return shares_of_lines(lines, by_position, credit, left)


async def _lower_due(tx: Transaction, invoice: InvoiceRecord, gross: Decimal, now: datetime) -> None:
    """Lower what is due of an invoice; money that has paid for the credited part goes to the account."""
    [balance] = await invoice_balances(tx, [invoice.number])
    freed = max(NOTHING, gross - balance.due)
    if freed:
        put_back_on_account(tx, invoice.customer_id, await allocated_to(tx, invoice.number), freed, now)
    credit_invoice(tx, invoice.number, gross)
    settle(tx, invoice.order_id, credited=gross)
    discharge(tx, invoice.customer_id, gross - freed)


def _credit_note(
    number: int,
    original: InvoiceDocument,
    lines: list[InvoiceLine],
    reason: str,
    letterhead: Letterhead,
    now: datetime,
) -> CreditNoteDocument:
    net, vat = sum((line.net for line in lines), NOTHING), sum((line.vat for line in lines), NOTHING)
    return made_from(
        original,
        CreditNoteDocument,
        number=number,
        issued_on=uk_date(now),
        invoice=original.number,
        invoice_issued_on=original.issued_on,
        seller=letterhead.seller,
        reason=reason,
        lines=lines,
        vat_totals=vat_totals(lines),
        net=net,
        vat=vat,
        gross=net + vat,
    )


def _credited_line(original: InvoiceDocument, share: CreditShare, vat_rate: Decimal, reason: str) -> InvoiceLine:
    if share.line is not None:
        invoiced = original.lines[share.line.position - 1]
        credited = {"quantity": share.units, "net": share.net, "vat": share.vat, "parts": [], "serial_numbers": []}
        return replace(invoiced, **credited)
    return InvoiceLine(
        sku="",
        description=reason,
        quantity=share.units,
        unit_price=share.net,
        vat_rate=vat_rate,
        net=share.net,
        vat=share.vat,
    )
