"""Composes the invoice of an order (specification, invoice)."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from msgspec import Struct

from tradecounter.billing.invoice_document import InvoiceDocument, InvoiceLine, InvoicePart
from tradecounter.billing.rules import Share, payment_terms, vat_totals
from tradecounter.billing.to_invoice import ToInvoice
from tradecounter.credit.rules import due_at
from tradecounter.customers.address_rules import address_lines
from tradecounter.customers.settings import Account
from tradecounter.customers.wire import CustomerAddress
from tradecounter.kit.local_time import uk_date
from tradecounter.kit.money import NOTHING
from tradecounter.letterhead.seller import Party, Seller
from tradecounter.orders.rules import VAT_AREA
from tradecounter.orders.states import ConfirmedOrder

_EXPORTED = "No UK VAT is charged: the goods were exported from the United Kingdom."


class Supply(Struct, frozen=True, kw_only=True):
    """What an invoice is about: dispatched units, their serial numbers by line id, account, and time of supply."""

    order: ConfirmedOrder
    part: ToInvoice
    serial_numbers: Mapping[int, list[str]]
    account: Account
    supplied_at: datetime


def compose_invoice(supply: Supply, seller: Seller, number: int, now: datetime, paid: Decimal) -> InvoiceDocument:
    """Return the invoice of dispatched units, issued now; `paid` is the money on the account that it takes."""
    order = supply.order
    delivery = order.shipping_address
    lines = [_item(share, supply) for share in supply.part.shares]
    if supply.part.shipping is not None:
        lines.append(_shipping(order, *supply.part.shipping))
    totals = vat_totals(lines)
    due = supply.part.gross - paid
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
        gross=supply.part.gross,
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
            InvoicePart(c.sku, c.name, c.quantity // line.quantity * share.units, numbers.get(c.id, []))
            for c in line.components
        ],
        serial_numbers=numbers.get(line.id, []),
    )


def _shipping(order: ConfirmedOrder, net: Decimal, vat: Decimal) -> InvoiceLine:
    return InvoiceLine("", f"Shipping: {order.chosen_shipping.name}", 1, net, order.tax_rate, net, vat)


def _party(name: str, address: CustomerAddress) -> Party:
    return Party(name, [line for line in address_lines(address) if line != name], address.tax_number)
