"""The requests of credit notes in the back office, and examples for the interface document."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.billing.operations.wire import example_line
from tradecounter.credit_notes.reseller_wire import CreditNote
from tradecounter.credit_notes.rules import CreditLine
from tradecounter.edge.operations.desk import ChangingParameters
from tradecounter.edge.operations.subject import Described
from tradecounter.kit.errors import invalid
from tradecounter.kit.numbers import Pounds


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


class CreditNoteListParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/credit-note`."""

    customer_id: Annotated[int, Meta(ge=1, description="Only this customer's credit notes.")] | None = None
    invoice: Annotated[int, Meta(ge=1, description="Only credit notes of this invoice.")] | None = None


CREDIT_NOTE = CreditNote(
    number=50001,
    invoice=10001,
    order_reference="ORD-100042",
    customer_id=1001,
    issued_on=date(2026, 6, 16),
    reason="One phone arrived broken.",
    lines=[example_line(1, "75.90", "15.18")],
    cost_net=Decimal("75.90"),
    cost_tax=Decimal("15.18"),
    cost_gross=Decimal("91.08"),
)

DESCRIBED: Mapping[type, Described] = {
    CreditNote: Described("The credit note.", CREDIT_NOTE),
    CreditNoteRequest: Described(
        "", CreditNoteRequest(lines=[CreditLine(90017, 1)], reason="One phone arrived broken."), "CreditNote"
    ),
}
