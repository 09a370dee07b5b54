"""An invoice and a credit note as data, as they are stored and printed. Amounts are pounds; dates are UK dates."""

from datetime import date
from decimal import Decimal

from msgspec import Struct

from tradecounter.letterhead.seller import Party, Seller


class InvoiceComponent(Struct, frozen=True):
    """A component of a bundle, without a price of its own."""

    sku: str
    description: str
    quantity: int
    serial_numbers: list[str] = []


class InvoiceLine(Struct, frozen=True):
    """A supplied item: `net` and `vat` are the line's totals, `vat_rate` is per cent. Shipping has no SKU."""

    sku: str
    description: str
    quantity: int
    unit_price: Decimal
    vat_rate: Decimal
    net: Decimal
    vat: Decimal
    parts: list[InvoiceComponent] = []
    serial_numbers: list[str] = []


class VatTotal(Struct, frozen=True):
    """The total of the lines at one rate of VAT, in per cent."""

    rate: Decimal
    net: Decimal
    vat: Decimal


class BilledDocument(Struct, frozen=True, kw_only=True):
    """What invoices and credit notes have in common."""

    number: int
    issued_on: date
    seller: Seller
    customer_id: int
    customer: Party
    order_reference: str
    customer_reference: str
    lines: list[InvoiceLine]
    vat_totals: list[VatTotal]
    net: Decimal
    vat: Decimal
    gross: Decimal


class InvoiceDocument(BilledDocument, frozen=True, kw_only=True):
    """A full VAT invoice; `supplied_on` is the time of supply, `due` the unpaid amount when it was issued."""

    supplied_on: date
    due_on: date
    delivery: Party
    due: Decimal
    payment_terms: str
    notes: list[str]


class CreditNoteDocument(BilledDocument, frozen=True, kw_only=True):
    """A credit note with all that VAT law asks of one; `invoice` is the number of the invoice that it corrects."""

    invoice: int
    invoice_issued_on: date
    reason: str
