"""Issues invoices of orders, reads them for the reseller, and sends them again (specification, invoice)."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct

from tradecounter.audit.record import audit
from tradecounter.billing.invoice_document import InvoiceComponent, InvoiceDocument, InvoiceLine
from tradecounter.billing.move_money import lock_confirmed_order, take_unallocated
from tradecounter.billing.print_invoice import print_invoice
from tradecounter.billing.queries.invoice_records import (
    InvoiceFilter,
    InvoiceRecord,
    fetch_invoice,
    lines_of_invoices,
    list_invoices,
)
from tradecounter.billing.queries.invoices import (
    insert_invoice,
    invoiced_of,
    last_dispatch,
    next_invoice_number,
    serial_numbers_of,
)
from tradecounter.billing.queries.ledger import unallocated_of
from tradecounter.billing.reseller_wire import Invoice, present_invoices
from tradecounter.billing.rules import (
    BilledUnits,
    Share,
    can_invoice,
    payment_terms,
    require_all_dispatched,
    shares_to_invoice,
    vat_totals,
)
from tradecounter.credit.queries import discharge
from tradecounter.credit.rules import due_at
from tradecounter.customers.address_rules import address_lines
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.settings import Account
from tradecounter.customers.wire import CustomerAddress
from tradecounter.db.installation import is_demo
from tradecounter.db.jobs import JobName, queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.money import NOTHING
from tradecounter.kit.wire import made_from
from tradecounter.letterhead.seller import Letterhead, Party, Seller
from tradecounter.orders.history import record_order_event
from tradecounter.orders.lines import OrderLine, status_of, units_per_bundle
from tradecounter.orders.queries.changes import settle
from tradecounter.orders.queries.orders import find_order_by_id, lines_of_order
from tradecounter.orders.rules import VAT_AREA
from tradecounter.orders.states import ConfirmedOrder


class ToInvoice(Struct, frozen=True):
    """What can be invoiced of an order: dispatched units without an invoice, and the net and the VAT of the shipping.

    `shipping` is None if an earlier invoice contains it.
    """

    shares: Sequence[Share]
    shipping: tuple[Decimal, Decimal] | None

    @property
    def gross(self) -> Decimal:
        """The units and the shipping with VAT."""
        shipping = sum(self.shipping or (), NOTHING)
        return sum((share.net + share.vat for share in self.shares), shipping)


def to_invoice(
    order: ConfirmedOrder, lines: Sequence[OrderLine], invoiced: Mapping[int | None, BilledUnits]
) -> ToInvoice | None:
    """Return what can be invoiced, or None."""
    shares = shares_to_invoice(lines, invoiced, order.tax_rate)
    left = sum(line.undispatched for line in lines)
    if not can_invoice(len(shares), left, invoiced=bool(invoiced)):
        return None
    return ToInvoice(shares, None if invoiced else (order.shipping_net, order.shipping_tax))


async def gross_to_invoice(
    tx: Transaction, orders: Sequence[ConfirmedOrder], lines: Mapping[int, Sequence[OrderLine]]
) -> dict[int, Decimal]:
    """Return what an invoice of each order would come to with VAT, by order id, without orders that have nothing."""
    invoiced = await invoiced_of(tx, [order.id for order in orders])
    parts = ((order.id, to_invoice(order, lines[order.id], invoiced[order.id])) for order in orders)
    return {order_id: part.gross for order_id, part in parts if part is not None}


_EXPORTED = "No UK VAT is charged: the goods were exported from the United Kingdom."


class Supply(Struct, frozen=True, kw_only=True):
    """What an invoice is about: dispatched units, their serial numbers by line id, account, and time of supply."""

    order: ConfirmedOrder
    billed: ToInvoice
    serial_numbers: Mapping[int, list[str]]
    account: Account
    supplied_at: datetime


def compose_invoice(supply: Supply, seller: Seller, number: int, now: datetime, paid: Decimal) -> InvoiceDocument:
    """Return the invoice of dispatched units, issued now; `paid` is the money on the account that it takes."""
    order = supply.order
    delivery = order.shipping_address
    lines = [_item(share, supply) for share in supply.billed.shares]
    if supply.billed.shipping is not None:
        lines.append(_shipping(order, *supply.billed.shipping))
    totals = vat_totals(lines)
    due = supply.billed.gross - paid
    due_on = uk_date(due_at(now, order.term_days))
    return InvoiceDocument(
        number=number,
        issued_on=uk_date(now),
        supplied_on=uk_date(supply.supplied_at),
        due_on=due_on,
        seller=seller,
        customer_id=order.customer_id,
        customer=_party(supply.account.name, order.billing_address),
        delivery=_party(delivery.company_name or delivery.contact_name, delivery),
        order_reference=order.order_reference,
        customer_reference=order.customer_reference,
        lines=lines,
        vat_totals=totals,
        net=sum((total.net for total in totals), NOTHING),
        vat=sum((total.vat for total in totals), NOTHING),
        gross=supply.billed.gross,
        due=due,
        payment_terms=payment_terms(order.term_days, due_on, due),
        notes=[] if delivery.country_code in VAT_AREA else [_EXPORTED],
    )


def _item(share: Share, supply: Supply) -> InvoiceLine:
    numbers, line = supply.serial_numbers, share.line
    return InvoiceLine(
        sku=line.sku,
        description=line.name,
        quantity=share.units,
        unit_price=line.unit_cost,
        vat_rate=supply.order.tax_rate,
        net=share.net,
        vat=share.vat,
        parts=[
            InvoiceComponent(each.sku, each.name, units_per_bundle(each, line) * share.units, numbers.get(each.id, []))
            for each in line.components
        ],
        serial_numbers=numbers.get(line.id, []),
    )


def _shipping(order: ConfirmedOrder, net: Decimal, vat: Decimal) -> InvoiceLine:
    return InvoiceLine(
        sku="",
        description=f"Shipping: {order.chosen_shipping.name}",
        quantity=1,
        unit_price=net,
        vat_rate=order.tax_rate,
        net=net,
        vat=vat,
    )


def _party(name: str, address: CustomerAddress) -> Party:
    return Party(name, [line for line in address_lines(address) if line != name], address.tax_number)


class IssuedInvoice(Struct, frozen=True, kw_only=True):
    """An order's invoice; `new` is whether this call issued it."""

    number: int
    order_reference: str
    gross: Decimal
    new: bool


async def issue_invoice(
    tx: Transaction, reference: str, letterhead: Letterhead, now: datetime, *, part: bool = False
) -> IssuedInvoice:
    """Issue an invoice for everything of an order that is dispatched and not yet invoiced.

    `reference` is the order's reference or id. If everything is invoiced, returns the latest invoice. Without `part`,
    no unit may be left to dispatch. The invoice number is locked last, because all other invoices wait for its lock.

    Raises DomainError: not found, conflict (not confirmed, cancelled, units left to dispatch, nothing to invoice, or
    the settings still contain the example seller outside a demo).
    """
    order = await lock_confirmed_order(tx, reference)
    lines = await lines_of_order(tx, order.id)
    if not part:
        require_all_dispatched(lines)
    invoiced = (await invoiced_of(tx, [order.id]))[order.id]
    supply = await _supply(tx, order, lines, invoiced)
    if supply is None:
        for issued in await list_invoices(tx, InvoiceFilter(order_id=order.id), 1):
            return made_from(issued, IssuedInvoice, new=False)
        raise DomainError(Kind.CONFLICT, f"nothing of order {order.order_reference} can be invoiced yet")
    await require_own_seller(tx, letterhead)
    number = await _issue(tx, supply, lines, letterhead, now)
    return IssuedInvoice(number=number, order_reference=order.order_reference, gross=supply.billed.gross, new=True)


async def _issue(tx: Transaction, supply: Supply, lines: list[OrderLine], letterhead: Letterhead, now: datetime) -> int:
    order = supply.order
    paid = min(await unallocated_of(tx, order.customer_id), supply.billed.gross)
    if paid:
        discharge(tx, order.customer_id, paid)
    # The invoices now contain all that was dispatched, except what came back before.
    invoiced: dict[int | None, int] = {line.id: line.dispatched - line.unbilled for line in lines}
    status = status_of(lines, invoiced, order.due - paid)
    settle(tx, order.id, paid=paid, status=status)
    document = compose_invoice(supply, letterhead.seller, await next_invoice_number(tx), now, paid)
    number = document.number
    # The paper shows the number, so other invoices wait while it is printed (docs/capacity.md).
    pdf = await asyncio.to_thread(print_invoice, document, now, letterhead.logo)
    line_ids = [share.line.id for share in supply.billed.shares]
    insert_invoice(
        tx,
        order.id,
        document,
        line_ids if supply.billed.shipping is None else [*line_ids, None],
        pdf,
        issued_at=now,
        supplied_at=supply.supplied_at,
        due_at=due_at(now, order.term_days),
    )
    await take_unallocated(tx, order.customer_id, order.id, number, paid, now)
    queue(tx, "mail_order_invoiced", order_id=order.id, number=number)
    if supply.account.accounts_email:
        queue(tx, "mail_invoice_copy", order_id=order.id, number=number)
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
            "the document would show the built-in example seller, and documents never change: set "
            f"{', '.join(letterhead.examples)} first",
        )


async def _supply(
    tx: Transaction, order: ConfirmedOrder, lines: list[OrderLine], invoiced: dict[int | None, BilledUnits]
) -> Supply | None:
    billed = to_invoice(order, lines, invoiced)
    if billed is None:
        return None
    supplied_at = await last_dispatch(tx, order.id)
    if supplied_at is None:
        raise LookupError(f"order {order.id} was dispatched without a shipment")
    return Supply(
        order=order,
        billed=billed,
        account=await fetch_account(tx, order.customer_id),
        serial_numbers=await serial_numbers_of(tx, order.id),
        supplied_at=supplied_at,
    )


async def shown_invoice(tx: Transaction, number: int, now: datetime) -> Invoice:
    """Return an invoice with its lines. Raises DomainError (not found)."""
    [invoice] = await shown_invoices(tx, [await fetch_invoice(tx, number)], now)
    return invoice


async def shown_invoices(tx: Transaction, records: Sequence[InvoiceRecord], now: datetime) -> list[Invoice]:
    """Return invoices with their lines, with one statement."""
    return present_invoices(records, await lines_of_invoices(tx, [record.number for record in records]), now)


class ResentInvoice(Struct, frozen=True):
    """An invoice and the recipients' e-mail addresses."""

    number: int
    order_reference: str
    recipients: list[str]


async def resend_invoice(tx: Transaction, number: int, now: datetime) -> ResentInvoice:
    """Queue an invoice's e-mails again: to the order's contact and to the account's address for invoices.

    Raises DomainError: not found, conflict (no recipients).
    """
    invoice = await fetch_invoice(tx, number)
    order = await find_order_by_id(tx, invoice.order_id)
    account = await fetch_account(tx, invoice.customer_id)
    contact = order.mail_recipient(account) if order is not None else None
    mails: dict[JobName, str | None] = {"mail_order_invoiced": contact, "mail_invoice_copy": account.accounts_email}
    recipients = [address for address in mails.values() if address]
    if not recipients:
        raise DomainError(
            Kind.CONFLICT,
            f"invoice {number} has no recipients: the order has no contact e-mail address, and customer {account.id} "
            "has neither accounts_email nor order_mails: set one of them",
        )
    for job, address in mails.items():
        if address:
            queue(tx, job, order_id=invoice.order_id, number=number, resent=int(now.timestamp()))
    audit(tx, "invoice.resend", f"invoice/{number}", now, after={"recipients": recipients})
    return ResentInvoice(number, invoice.order_reference, recipients)
