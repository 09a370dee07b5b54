"""`/api/remittance`: what customers tell of their payments, such as on the phone."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import ChangingParameters, Desk
from tradecounter.edge.operations.subject import Described, InPath, Listed, Subject
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.kit.number_types import Id
from tradecounter.payments.queries.remittances import RemittanceAdvice, fetch_remittance, remittance_table
from tradecounter.payments.remittances import PaidInvoices, take_back_remittance, tell_of_payment


class RemittanceRequest(PaidInvoices, kw_only=True):
    """Invoices that a customer has paid. Without an `amount`, it is what is due of them; without a day, today."""

    customer_id: Id


_DESCRIBED: Mapping[type, Described] = {
    RemittanceAdvice: Described(
        "What was told.",
        RemittanceAdvice(
            id=3,
            customer_id=1001,
            amount=Decimal("1423.62"),
            paid_on=date(2026, 6, 15),
            reference="HARBOURLINE JUNE",
            invoices=[5],
            told_at=datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC),
            payment_id=None,
        ),
        "Remittance",
    ),
    RemittanceRequest: Described(
        "", RemittanceRequest(customer_id=1001, invoices=[5], paid_on=date(2026, 6, 15), reference="HARBOURLINE JUNE")
    ),
}
_REMITTANCES = Subject(tag="Billing", read="billing:read", write="billing:write", described=_DESCRIBED)
_ALL, _ONE = "/api/remittance", "/api/remittance/{id}"

RemittanceId = Annotated[int, InPath("id", "The remittance's id.", 3, "remittance")]


class RemittanceListParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/remittance`."""

    customer_id: Annotated[int, Meta(ge=1, description="Only this customer's.")] | None = None


class RemittanceOperations(Struct, frozen=True):
    """The endpoints of what customers tell of payments."""

    desk: Desk

    @_REMITTANCES.lists(_ALL, "What was told.")
    async def list_remittances(self, tx: Transaction, query: RemittanceListParameters) -> Listed[RemittanceAdvice]:
        """What customers have told of their payments.

        The latest first. Bank files place the money by it.
        """
        found = await remittance_table(tx, query.customer_id, query.after or None, query.limit + 1, query.since)
        return Listed(found, found)

    @_REMITTANCES.changes("POST", _ALL, location=f"{_ALL}/{{id}}", errors=(NOT_FOUND,))
    async def tell_of_payment(self, tx: Transaction, now: datetime, body: RemittanceRequest) -> RemittanceAdvice:
        """Note what a customer tells of a payment."""
        account = await fetch_account(tx, body.customer_id)
        return await tell_of_payment(tx, account.id, None, body, now)

    @_REMITTANCES.shows(_ONE)
    async def get_remittance(self, tx: Transaction, remittance_id: RemittanceId) -> RemittanceAdvice:
        """What was told of one payment."""
        return await fetch_remittance(tx, remittance_id)

    @_REMITTANCES.changes("DELETE", _ONE, "It is taken back.")
    async def take_back_remittance(self, tx: Transaction, now: datetime, remittance_id: RemittanceId) -> None:
        """Take back what was told of a payment.

        404 also once the money has come.
        """
        told = await fetch_remittance(tx, remittance_id)
        await take_back_remittance(tx, told.customer_id, remittance_id, now)
