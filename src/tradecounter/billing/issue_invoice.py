"""Issues the invoice of a completely dispatched order (decisions, invoice).

Rows are always locked in the same order. The invoice number is last, since all other invoices wait for its lock.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from tradecounter.audit.record import audit
from tradecounter.billing.compose_invoice import Supply, compose_invoice
from tradecounter.billing.lock_order import lock_confirmed_order
from tradecounter.billing.print_invoice import print_invoice
from tradecounter.billing.queries.invoices import (
    find_invoice,
    insert_invoice,
    last_dispatch,
    next_invoice_number,
    serial_numbers_of,
)
from tradecounter.billing.rules import require_all_dispatched, status_with
from tradecounter.credit.rules import due_at
from tradecounter.customers.queries.accounts import find_account
from tradecounter.db.installation import is_demo
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.money import NOTHING
from tradecounter.letterhead.seller import Letterhead
from tradecounter.ordering.history import record_order_event
from tradecounter.ordering.queries.changes import record_paid
from tradecounter.ordering.queries.lines import lines_of_order
from tradecounter.ordering.states import ConfirmedOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedInvoice:
    """An order's invoice; `new` is whether this call issued it."""

    number: int
    order_reference: str
    gross: Decimal
    new: bool


async def issue_invoice(tx: Transaction, reference: str, letterhead: Letterhead, now: datetime) -> IssuedInvoice:
    """Issue the invoice of an order, named by its reference or id, or return the existing invoice.

    Raises DomainError: not found, precondition failed (not confirmed, cancelled, not completely dispatched, or the
    settings still contain the example seller outside a demo).
    """
    order = await lock_confirmed_order(tx, reference)
    name = order.order_reference
    issued = await find_invoice(tx, order.id)
    if issued is not None:
        return IssuedInvoice(number=issued.number, order_reference=name, gross=issued.gross, new=False)
    await _require_own_seller(tx, letterhead)
    supply = await _supply(tx, order)
    status = status_with(order.due)
    await record_paid(tx, order.id, NOTHING, status)
    await queue(tx, "mail_order_invoiced", order_id=order.id)
    if supply.account.accounts_email:
        await queue(tx, "mail_invoice_copy", order_id=order.id)
    document = compose_invoice(supply, letterhead.seller, await next_invoice_number(tx), now)
    pdf = await asyncio.to_thread(print_invoice, document, now, letterhead.logo)
    await insert_invoice(
        tx, order.id, document, pdf, issued_at=now, supplied_at=supply.supplied_at, due_at=due_at(now, order.term_days)
    )
    issue = {"number": document.number, "gross": document.gross}
    record_order_event(tx, "invoice.issued", order, now, status=status, invoice=issue)
    audit(tx, "invoice.issue", f"invoice/{document.number}", now, after={"order_reference": name, **issue})
    return IssuedInvoice(number=document.number, order_reference=name, gross=document.gross, new=True)


async def _require_own_seller(tx: Transaction, letterhead: Letterhead) -> None:
    if letterhead.examples and not await is_demo(tx):
        raise DomainError(
            Kind.PRECONDITION_FAILED,
            "the invoice would show the built-in example seller, and invoices never change: set "
            f"{', '.join(letterhead.examples)} first",
        )


async def _supply(tx: Transaction, order: ConfirmedOrder) -> Supply:
    lines = await lines_of_order(tx, order.id)
    require_all_dispatched(lines)
    serial_numbers = await serial_numbers_of(tx, order.id)
    supplied_at = await last_dispatch(tx, order.id)
    account = await find_account(tx, order.customer_id)
    if supplied_at is None or account is None:
        raise LookupError(f"order {order.id} was dispatched without a shipment, or its customer does not exist")
    return Supply(order=order, lines=lines, serial_numbers=serial_numbers, account=account, supplied_at=supplied_at)
