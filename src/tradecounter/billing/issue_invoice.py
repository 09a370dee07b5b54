"""Issues the invoices of orders (specification, invoice).

Rows are always locked in the same order. The invoice number is last, since all other invoices wait for its lock.
"""

import asyncio
from datetime import datetime
from decimal import Decimal

from msgspec import Struct

from tradecounter.audit.record import audit
from tradecounter.billing.compose_invoice import Supply, compose_invoice
from tradecounter.billing.invoice_document import InvoiceDocument
from tradecounter.billing.move_money import lock_confirmed_order, take_unallocated
from tradecounter.billing.print_invoice import print_invoice
from tradecounter.billing.queries.invoices import (
    find_invoice,
    insert_invoice,
    invoiced_of,
    last_dispatch,
    next_invoice_number,
    serial_numbers_of,
)
from tradecounter.billing.queries.ledger import unallocated_of
from tradecounter.billing.rules import Billed, require_all_dispatched
from tradecounter.billing.to_invoice import to_invoice
from tradecounter.credit.queries import discharge
from tradecounter.credit.rules import due_at
from tradecounter.customers.queries.accounts import find_account
from tradecounter.db.installation import is_demo
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.letterhead.seller import Letterhead
from tradecounter.orders.history import record_order_event
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.queries.changes import settle
from tradecounter.orders.queries.lines import lines_of_order
from tradecounter.orders.states import ConfirmedOrder
from tradecounter.orders.units import status_of


class IssuedInvoice(Struct, frozen=True, kw_only=True):
    """An order's invoice; `new` is whether this call issued it."""

    number: int
    order_reference: str
    gross: Decimal
    new: bool


async def issue_invoice(
    tx: Transaction, reference: str, letterhead: Letterhead, now: datetime, *, part: bool = False
) -> IssuedInvoice:
    """Issue an invoice for all that is dispatched and not yet invoiced of an order, named by its reference or id.

    Returns the latest invoice if all is invoiced. Without `part`, nothing may be left to dispatch. Raises DomainError:
    not found, conflict (not confirmed, cancelled, something left to dispatch, nothing to invoice, or the settings still
    contain the example seller outside a demo).
    """
    order = await lock_confirmed_order(tx, reference)
    lines = await lines_of_order(tx, order.id)
    if not part:
        require_all_dispatched(lines)
    invoiced = (await invoiced_of(tx, [order.id]))[order.id]
    supply = await _supply(tx, order, lines, invoiced)
    if supply is None:
        issued = await find_invoice(tx, order.id)
        if issued is None:
            yet = " yet" if any(line.left for line in lines) else ""
            raise DomainError(Kind.CONFLICT, f"nothing of order {order.order_reference} can be invoiced{yet}")
        return IssuedInvoice(number=issued.number, order_reference=order.order_reference, gross=issued.gross, new=False)
    await require_own_seller(tx, letterhead)
    number = await _issue(tx, supply, lines, letterhead, now)
    return IssuedInvoice(number=number, order_reference=order.order_reference, gross=supply.part.gross, new=True)


async def _issue(tx: Transaction, supply: Supply, lines: list[OrderLine], letterhead: Letterhead, now: datetime) -> int:
    order = supply.order
    paid = min(await unallocated_of(tx, order.customer_id), supply.part.gross)
    if paid:
        await discharge(tx, order.customer_id, paid)
    # The invoices now contain the shipping and all that was dispatched, except what came back before.
    invoiced = {None: 1} | {line.id: line.dispatched - line.unbilled for line in lines}
    status = status_of(lines, invoiced, order.due - paid)
    settle(tx, order.id, paid=paid, status=status)
    document = compose_invoice(supply, letterhead.seller, await next_invoice_number(tx), now, paid)
    number = document.number
    # The paper shows the number, so other invoices wait while it is printed (docs/capacity.md).
    pdf = await asyncio.to_thread(print_invoice, document, now, letterhead.logo)
    line_ids = [share.line.id for share in supply.part.shares]
    insert_invoice(
        tx,
        order.id,
        document,
        line_ids if supply.part.shipping is None else [*line_ids, None],
        pdf,
        issued_at=now,
        supplied_at=supply.supplied_at,
        due_at=due_at(now, order.term_days),
    )
    await take_unallocated(tx, order.customer_id, number, paid, now)
    await queue(tx, "mail_order_invoiced", order_id=order.id, number=number)
    if supply.account.accounts_email:
        await queue(tx, "mail_invoice_copy", order_id=order.id, number=number)
    _record(tx, order, document, status, now)
    return number


def _record(tx: Transaction, order: ConfirmedOrder, document: InvoiceDocument, status: str, now: datetime) -> None:
    issued = {"number": document.number, "gross": document.gross, "due": document.due, "due_on": document.due_on}
    record_order_event(tx, "invoice.issued", order, now, status=status, invoice=issued)
    order_reference = document.order_reference
    audit(tx, "invoice.issue", f"invoice/{document.number}", now, after={"order_reference": order_reference, **issued})


async def require_own_seller(tx: Transaction, letterhead: Letterhead) -> None:
    """Raise DomainError (conflict) if an invoice or credit note would show the example seller, except in a demo."""
    if letterhead.examples and not await is_demo(tx):
        raise DomainError(
            Kind.CONFLICT,
            "the invoice would show the built-in example seller, and invoices never change: set "
            f"{', '.join(letterhead.examples)} first",
        )


async def _supply(
    tx: Transaction, order: ConfirmedOrder, lines: list[OrderLine], invoiced: dict[int | None, Billed]
) -> Supply | None:
    part = to_invoice(order, lines, invoiced)
    if part is None:
        return None
    supplied_at = await last_dispatch(tx, order.id)
    account = await find_account(tx, order.customer_id)
    if supplied_at is None or account is None:
        raise LookupError(f"order {order.id} was dispatched without a shipment, or its customer does not exist")
    return Supply(
        order=order,
        part=part,
        serial_numbers=await serial_numbers_of(tx, order.id),
        account=account,
        supplied_at=supplied_at,
    )
