"""`/api/payment` and `/api/remittance`."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import ChangingParameters, Desk
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import Described, ListPage, Subject
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.kit.numbers import Id
from tradecounter.kit.wire import ReasonRequest
from tradecounter.payments.operations.examples import PAYMENTS_DESCRIBED
from tradecounter.payments.queries.payments import PaymentFilter, list_payments
from tradecounter.payments.queries.remittances import RemittanceAdvice, fetch_remittance, remittance_table
from tradecounter.payments.record_payment import PaymentRequest, record_payment, reverse_payment
from tradecounter.payments.remittances import PaidInvoices, announce_payment, withdraw_remittance
from tradecounter.payments.wire import Payment, present_payment

_PAYMENTS = Subject(tag="Billing", read="billing:read", write="billing:write", described=PAYMENTS_DESCRIBED)
_ALL_PAYMENTS = "/api/payment"

PaymentId = Annotated[int, InPath("id", "The payment's id.", 61, "payment")]


class PaymentListParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/payment`."""

    customer_id: Annotated[int, Meta(ge=1, description="Only this customer's payments.")] | None = None
    invoice: Annotated[int, Meta(ge=1, description="Only payments of this invoice.")] | None = None


class PaymentOperations(Struct, frozen=True):
    """The endpoints of payments."""

    desk: Desk

    @_PAYMENTS.lists(_ALL_PAYMENTS, "The payments.")
    async def list_payments(self, tx: Transaction, query: PaymentListParameters) -> ListPage[Payment]:
        """Payments of all customers.

        The latest recorded first.
        """
        payment_filter = PaymentFilter(
            customer_id=query.customer_id,
            invoice=query.invoice,
            before=query.after or None,
            changed_since=query.since,
        )
        payments = await list_payments(tx, payment_filter, query.limit + 1)
        return ListPage(payments, map(present_payment, payments))

    @_PAYMENTS.changes("POST", _ALL_PAYMENTS, dry_run=True, errors=(NOT_FOUND,))
    async def record_payment(self, tx: Transaction, now: datetime, body: PaymentRequest) -> Payment:
        """Record a payment or a refund.

        Of an invoice, or of a customer: then of the oldest due invoices. The rest stays on the account. A refund is of
        a customer, at most what is on the account. `force` records a payment although the same reference, amount and
        date are recorded. A dry run shows what the payment would pay.
        """
        return await record_payment(tx, body, now)

    @_PAYMENTS.changes("POST", f"{_ALL_PAYMENTS}/{{id}}/reverse")
    async def reverse_payment(
        self, tx: Transaction, now: datetime, payment_id: PaymentId, body: ReasonRequest
    ) -> Payment:
        """Reverse a payment.

        What it paid is due again. The money of a refund is on the account again.
        """
        return await reverse_payment(tx, payment_id, body.reason, now)


class RemittanceRequest(PaidInvoices, kw_only=True):
    """Invoices that a customer has paid. Without an `amount`, it is what is due of them; without a day, today."""

    customer_id: Id


_DESCRIBED: Mapping[type, Described] = {
    RemittanceAdvice: Described(
        "The announced payment.",
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
_ALL_REMITTANCES, _ONE_REMITTANCE = "/api/remittance", "/api/remittance/{id}"

RemittanceId = Annotated[int, InPath("id", "The remittance's id.", 3, "remittance")]


class RemittanceListParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/remittance`."""

    customer_id: Annotated[int, Meta(ge=1, description="Only this customer's.")] | None = None


class RemittanceOperations(Struct, frozen=True):
    """The endpoints of payments that customers announce."""

    desk: Desk

    @_REMITTANCES.lists(_ALL_REMITTANCES, "The remittances.")
    async def list_remittances(self, tx: Transaction, query: RemittanceListParameters) -> ListPage[RemittanceAdvice]:
        """Payments that customers have announced.

        The latest first. Bank files place the money by it.
        """
        remittances = await remittance_table(tx, query.customer_id, query.after or None, query.limit + 1, query.since)
        return ListPage(remittances, remittances)

    @_REMITTANCES.changes("POST", _ALL_REMITTANCES, location=f"{_ALL_REMITTANCES}/{{id}}", errors=(NOT_FOUND,))
    async def tell_of_payment(self, tx: Transaction, now: datetime, body: RemittanceRequest) -> RemittanceAdvice:
        """Note a payment that a customer announces."""
        account = await fetch_account(tx, body.customer_id)
        return await announce_payment(tx, account.id, None, body, now)

    @_REMITTANCES.shows(_ONE_REMITTANCE)
    async def get_remittance(self, tx: Transaction, remittance_id: RemittanceId) -> RemittanceAdvice:
        """One announced payment."""
        return await fetch_remittance(tx, remittance_id)

    @_REMITTANCES.changes("DELETE", _ONE_REMITTANCE, "It is withdrawn.")
    async def take_back_remittance(self, tx: Transaction, now: datetime, remittance_id: RemittanceId) -> None:
        """Withdraw an announced payment.

        404 also once the money has arrived.
        """
        remittance = await fetch_remittance(tx, remittance_id)
        await withdraw_remittance(tx, remittance.customer_id, remittance_id, now)
