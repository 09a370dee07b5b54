"""The responses of billing in the customers' API, with examples (specification, section 2; documents)."""

from decimal import Decimal
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict

from tradecounter.billing.account_statement import AccountStatement, EntryFields, StatementFields
from tradecounter.billing.reseller_wire import BilledLine, Invoice, InvoiceFields, LineFields
from tradecounter.edge.rest.days import PERIOD_NAMES
from tradecounter.kit.clock import local_text
from tradecounter.kit.wire import Amount, LocalDateTime, made_from


class CreditOrderStatus(Struct):
    """An order that is not fully paid."""

    total_cost: Annotated[Amount, Meta(description="With VAT and shipping, less credit notes, in pounds.")]
    total_paid: Annotated[Amount, Meta(description="What payments have paid of it, in pounds.")]
    total_due: Annotated[Amount, Meta(description="What is left to pay, in pounds.")]
    created_on: LocalDateTime
    due_on: LocalDateTime
    is_overdue: Annotated[bool, Meta(description="Whether `due_on` has passed.")]
    customer_reference: Annotated[str, Meta(description="Your own reference.")]
    order_reference: Annotated[str, Meta(description="The order reference.")]


class CreditOverview(Struct):
    """The account's credit limit and its debts by order."""

    credit_limit: Annotated[Amount, Meta(description="The most that the account may owe, in pounds.")]
    total_outstanding: Annotated[
        Amount, Meta(description="What is left to pay of confirmed orders, with VAT and shipping, in pounds.")
    ]
    available_credit: Annotated[
        Amount, Meta(description="What new orders may cost together, with VAT and shipping, in pounds.")
    ]
    outstanding_orders: Annotated[list[CreditOrderStatus], Meta(description="The orders that are not fully paid.")]


class CustomerDocumentLine(LineFields, frozen=True, kw_only=True):
    """A line of an invoice or a credit note; shipping and amounts have no `item_id` and no `sku`."""

    item_id: Annotated[int, Meta(description="The `id` of the order's item.")] | UnsetType = UNSET
    sku: Annotated[str, Meta(description="The product's SKU.")] | UnsetType = UNSET


class CustomerInvoice(InvoiceFields, frozen=True, kw_only=True):
    """An invoice with its lines, and what is paid, credited and due of it."""

    lines: Annotated[
        list[CustomerDocumentLine],
        Meta(description="The lines as printed; shipping, which is on the first invoice, last."),
    ]


class CustomerStatementEntry(EntryFields[str], frozen=True, kw_only=True):
    """An entry of a statement."""

    at: Annotated[LocalDateTime, Meta(description="When it counts from, in UK local time.")]


class CustomerStatement(StatementFields[CustomerStatementEntry], frozen=True, kw_only=True, rename=PERIOD_NAMES):
    """Your account between two UK days, both included. The closing balance is the ageing less `unallocated`."""

    entries: Annotated[list[CustomerStatementEntry], Meta(description="What happened between the days, oldest first.")]


def own_invoice(invoice: Invoice) -> CustomerInvoice:
    """Return an invoice as its customer sees it."""
    return made_from(invoice, CustomerInvoice, lines=[own_line(line) for line in invoice.lines])


def own_statement(statement: AccountStatement) -> CustomerStatement:
    """Return a statement as its customer sees it."""
    entries = [made_from(entry, CustomerStatementEntry, at=local_text(entry.at)) for entry in statement.entries]
    return made_from(statement, CustomerStatement, entries=entries)


def own_line(line: BilledLine) -> CustomerDocumentLine:
    """Return a line of a document as its customer sees it."""
    found: dict[str, Any] = {name: value for name, value in asdict(line).items() if value is not None}
    return CustomerDocumentLine(**found)


CREDIT = CreditOverview(
    credit_limit=Decimal("5000.00"),
    total_outstanding=Decimal("557.88"),
    available_credit=Decimal("4442.12"),
    outstanding_orders=[
        CreditOrderStatus(
            total_cost=Decimal("557.88"),
            total_paid=Decimal("0.00"),
            total_due=Decimal("557.88"),
            created_on="2026-06-16T09:12:44",
            due_on="2026-07-16T23:59:59",
            is_overdue=False,
            customer_reference="PO-1001",
            order_reference="ORD-100042",
        )
    ],
)
