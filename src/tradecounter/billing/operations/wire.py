"""The requests of billing in the back office, and examples of its resources for the interface document."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Literal

from msgspec import Meta, Struct

from tradecounter.billing.account_statement import AccountStatement, Entry, SentStatement, StatementPeriod
from tradecounter.billing.debtors import Debtor, Reminder
from tradecounter.billing.invoices import ResentInvoice
from tradecounter.billing.reseller_wire import BilledLine, Invoice
from tradecounter.billing.rules import Ageing
from tradecounter.billing.vat_report import VatLine, VatReport
from tradecounter.edge.operations.desk import ChangingParameters, Limit
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import Described
from tradecounter.edge.rest.days import PERIOD_NAMES, Day

InvoiceNumber = Annotated[int, InPath("number", "The invoice's number.", 10001, "invoice")]


class InvoiceListParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/invoice`."""

    customer_id: Annotated[int, Meta(ge=1, description="Only this customer's invoices.")] | None = None
    issued_from: Annotated[
        str | None, Meta(description="Only invoices issued at this time or later; a date is when that UK day begins.")
    ] = None
    issued_to: Annotated[
        str | None, Meta(description="Only invoices issued before this time; a date includes the whole UK day.")
    ] = None
    unpaid: Annotated[bool, Meta(description="Only unpaid or part-paid invoices.")] = False
    overdue: Annotated[bool, Meta(description="Only unpaid or part-paid invoices past their due date.")] = False


class DebtorListParameters(Struct, frozen=True, kw_only=True):
    """The query parameters of `GET /api/debtor`, which is sorted by amount, so its cursor is no number."""

    after: Annotated[
        str | None, Meta(description="Only results after this one; take it from the `Link` of the page before.")
    ] = None
    limit: Limit = 100


class StatementParameters(StatementPeriod, frozen=True, kw_only=True):
    """The query parameters of a statement."""

    format: Annotated[Literal["json", "csv", "pdf"], Meta(description="The format of the response.")] = "json"


class VatPeriod(Struct, frozen=True, kw_only=True, rename=PERIOD_NAMES):
    """The days of a report of VAT, both included."""

    since: Annotated[
        Day | None,
        Meta(description="The first day; by default that of the quarter of `to`.", examples=["2026-04-01"]),
    ] = None
    until: Annotated[Day | None, Meta(description="The last day; by default today.", examples=["2026-06-30"])] = None


_NOTHING = Decimal("0.00")
_ISSUED = date(2026, 6, 16)


def example_line(quantity: int, net: str, tax: str) -> BilledLine:
    """Return a line of the example documents."""
    return BilledLine(
        item_id=90017,
        sku="CV-320P",
        description="Convoy 320P desk phone",
        quantity=quantity,
        unit_cost=Decimal("75.90"),
        cost_net=Decimal(net),
        tax_rate=Decimal("20.00"),
        cost_tax=Decimal(tax),
    )


INVOICE = Invoice(
    number=10001,
    order_reference="ORD-100042",
    customer_id=1001,
    issued_on=_ISSUED,
    tax_point=_ISSUED,
    due_on=date(2026, 7, 16),
    cost_net=Decimal("455.40"),
    cost_tax=Decimal("91.08"),
    cost_gross=Decimal("546.48"),
    paid=Decimal("100.00"),
    credited=_NOTHING,
    due=Decimal("446.48"),
    customer_reference="PO-1001",
    state="part_paid",
    lines=[example_line(6, "455.40", "91.08")],
)
_AGEING = Ageing(
    not_due=Decimal("446.48"), days_1_30=_NOTHING, days_31_60=_NOTHING, days_61_90=_NOTHING, over_90=_NOTHING
)
STATEMENT = AccountStatement(
    customer_id=1001,
    since=_ISSUED,
    until=date(2026, 6, 30),
    opening_balance=_NOTHING,
    entries=[
        Entry(
            at=datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC),
            kind="invoice",
            number=10001,
            description="ORD-100042",
            debit=Decimal("546.48"),
            credit=_NOTHING,
            balance=Decimal("546.48"),
        )
    ],
    closing_balance=Decimal("546.48"),
    ageing=_AGEING,
    unallocated=_NOTHING,
)
_DEBTOR = Debtor(
    customer_id=1001,
    name="Harbourline Communications",
    due=Decimal("446.48"),
    overdue=_NOTHING,
    ageing=_AGEING,
    unallocated=_NOTHING,
)
VAT = VatReport(
    since=date(2026, 4, 1),
    until=date(2026, 6, 30),
    lines=[
        VatLine(
            kind="invoice",
            supply="domestic",
            tax_rate=Decimal("20.00"),
            documents=1,
            cost_net=Decimal("455.40"),
            cost_tax=Decimal("91.08"),
            cost_gross=Decimal("546.48"),
        ),
        VatLine(
            kind="credit_note",
            supply="domestic",
            tax_rate=Decimal("20.00"),
            documents=1,
            cost_net=Decimal("-75.90"),
            cost_tax=Decimal("-15.18"),
            cost_gross=Decimal("-91.08"),
        ),
    ],
    documents=2,
    cost_net=Decimal("379.50"),
    cost_tax=Decimal("75.90"),
    cost_gross=Decimal("455.40"),
    box_1=Decimal("75.90"),
    box_6=Decimal(379),
)

DESCRIBED: Mapping[type, Described] = {
    Invoice: Described("The invoice.", INVOICE),
    SentStatement: Described(
        "The customer and who gets the e-mail.",
        SentStatement(customer_id=1001, recipient="accounts@harbourline.example"),
    ),
    Reminder: Described(
        "The reminder.",
        Reminder(
            customer_id=1001,
            invoices=2,
            due=Decimal("892.96"),
            overdue=Decimal("546.48"),
            recipient="accounts@harbourline.example",
        ),
        "Reminder",
    ),
    ResentInvoice: Described(
        "The recipients.", ResentInvoice(10001, "ORD-100042", ["accounts@harbourline.example"]), "Resent"
    ),
    AccountStatement: Described("The statement.", STATEMENT, "Statement"),
    Debtor: Described("The debtor.", _DEBTOR),
    VatReport: Described("The VAT of the period.", VAT),
}
