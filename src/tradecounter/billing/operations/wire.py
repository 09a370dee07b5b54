"""The requests of billing in the back office."""

from decimal import Decimal
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.billing.credit_shares import CreditLine
from tradecounter.billing.statement_files import StatementPeriod
from tradecounter.edge.operations.desk import ChangingParameters, Limit
from tradecounter.edge.rest.days import Day
from tradecounter.edge.rest.parameters import Flag
from tradecounter.kit.errors import invalid
from tradecounter.kit.number_types import Pounds


class CreditNoteRequest(Struct, kw_only=True, omit_defaults=True):
    """What to credit of an invoice: units of its lines, or an amount without VAT."""

    lines: (
        Annotated[list[CreditLine], Meta(min_length=1, description="`item_id` is null for shipping.")] | UnsetType
    ) = UNSET
    amount: Annotated[Pounds, Meta(description="Pounds to credit, without VAT.")] | UnsetType = UNSET
    reason: Annotated[str, Meta(description="The reason, for the customer and the audit log.")]

    @property
    def credit(self) -> list[CreditLine] | Decimal:
        """The units or the amount. Raises DomainError (invalid) for neither and for both."""
        if self.lines is not UNSET and self.amount is UNSET:
            return self.lines
        if self.amount is not UNSET and self.lines is UNSET:
            return self.amount
        raise invalid("lines", "send either lines or amount")


class InvoiceListParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/invoice`."""

    customer_id: Annotated[int, Meta(ge=1, description="Only this customer's invoices.")] | None = None
    issued_from: Annotated[
        str | None, Meta(description="Only invoices issued at this time or later; a date is when that UK day begins.")
    ] = None
    issued_to: Annotated[
        str | None, Meta(description="Only invoices issued before this time; a date includes the whole UK day.")
    ] = None
    unpaid: Annotated[Flag, Meta(description="Only unpaid or part-paid invoices.")] = "false"
    overdue: Annotated[Flag, Meta(description="Only unpaid or part-paid invoices past their due date.")] = "false"


class CreditNoteListParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/credit-note`."""

    customer_id: Annotated[int, Meta(ge=1, description="Only this customer's credit notes.")] | None = None
    invoice: Annotated[int, Meta(ge=1, description="Only credit notes of this invoice.")] | None = None


class DebtorListParameters(Struct, frozen=True, kw_only=True):
    """The query parameters of `GET /api/debtor`, which is sorted by amount, so its cursor is no number."""

    after: Annotated[
        str | None, Meta(description="Only results after this one; take it from the `Link` of the page before.")
    ] = None
    limit: Limit = 100


class StatementParameters(StatementPeriod, frozen=True, kw_only=True):
    """The query parameters of a statement."""

    format: Annotated[Literal["json", "csv", "pdf"], Meta(description="The format of the response.")] = "json"


class VatPeriod(Struct, frozen=True, kw_only=True, rename={"since": "from", "until": "to"}):
    """The days of a report of VAT, both included."""

    since: Annotated[
        Day | None,
        Meta(description="The first day; by default that of the quarter of `to`.", examples=["2026-04-01"]),
    ] = None
    until: Annotated[Day | None, Meta(description="The last day; by default today.", examples=["2026-06-30"])] = None
