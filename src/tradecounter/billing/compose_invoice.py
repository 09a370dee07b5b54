"""Composes the invoice of an order (decisions, invoice)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from tradecounter.billing.invoice_document import InvoiceDocument, InvoiceLine, InvoicePart
from tradecounter.billing.rules import payment_terms, vat_totals
from tradecounter.credit.rules import due_at
from tradecounter.customers.address_lines import address_lines
from tradecounter.customers.queries.accounts import Account
from tradecounter.customers.wire import CustomerAddress
from tradecounter.kit.local_time import uk_date
from tradecounter.kit.money import NOTHING
from tradecounter.letterhead.seller import Party, Seller
from tradecounter.ordering.lines import OrderLine
from tradecounter.ordering.rules import VAT_AREA
from tradecounter.ordering.states import ConfirmedOrder

_EXPORTED = "No UK VAT is charged: the goods were exported from the United Kingdom."


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """A completely dispatched order: lines, serial numbers by line id, account, and time of supply."""

    order: ConfirmedOrder
    lines: Sequence[OrderLine]
    serial_numbers: Mapping[int, list[str]]
    account: Account
    supplied_at: datetime


def compose_invoice(supply: Supply, seller: Seller, number: int, now: datetime) -> InvoiceDocument:
    """Return the invoice of an order, issued now, with the amounts of the confirmation."""
    order = supply.order
    delivery = order.shipping_address
    lines = [*(_item(line, supply) for line in supply.lines if line.quantity), _shipping(order)]
    totals = vat_totals(lines)
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
        gross=order.gross,
        due=order.due,
        payment_terms=payment_terms(order.term_days, due_on, order.due),
        notes=[] if delivery.country_code in VAT_AREA else [_EXPORTED],
    )


def _item(line: OrderLine, supply: Supply) -> InvoiceLine:
    numbers = supply.serial_numbers
    return InvoiceLine(
        sku=line.sku,
        description=line.name,
        quantity=line.quantity,
        unit_price=line.unit_cost,
        vat_rate=supply.order.tax_rate,
        net=line.cost_net,
        vat=line.cost_tax,
        parts=[InvoicePart(c.sku, c.name, c.quantity, numbers.get(c.id, [])) for c in line.components],
        serial_numbers=numbers.get(line.id, []),
    )


def _shipping(order: ConfirmedOrder) -> InvoiceLine:
    net = order.shipping_net
    return InvoiceLine("", f"Shipping: {order.chosen_shipping.name}", 1, net, order.tax_rate, net, order.shipping_tax)


def _party(name: str, address: CustomerAddress) -> Party:
    return Party(name, [line for line in address_lines(address) if line != name], address.tax_number)
