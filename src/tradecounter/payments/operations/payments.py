"""`/api/payment`: payments and their reversal."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import ChangingParameters, Desk
from tradecounter.edge.operations.subject import InPath, Listed, Subject
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.kit.wire import ReasonRequest
from tradecounter.payments.operations.examples import PAYMENTS_DESCRIBED
from tradecounter.payments.queries.payments import PaymentFilter, list_payments
from tradecounter.payments.record_payment import PaymentRequest, record_new_payment
from tradecounter.payments.reverse_payment import reverse_payment
from tradecounter.payments.wire import Payment, present_payment

_PAYMENTS = Subject(tag="Billing", read="billing:read", write="billing:write", described=PAYMENTS_DESCRIBED)
_ALL = "/api/payment"

PaymentId = Annotated[int, InPath("id", "The payment's id.", 61, "payment")]


class PaymentListParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/payment`."""

    customer_id: Annotated[int, Meta(ge=1, description="Only this customer's payments.")] | None = None
    invoice: Annotated[int, Meta(ge=1, description="Only payments of this invoice.")] | None = None


class PaymentOperations(Struct, frozen=True):
    """The endpoints of payments."""

    desk: Desk

    @_PAYMENTS.lists(_ALL, "The payments.")
    async def list_payments(self, tx: Transaction, query: PaymentListParameters) -> Listed[Payment]:
        """Payments of all customers.

        The latest recorded first.
        """
        chosen = PaymentFilter(customer_id=query.customer_id, invoice=query.invoice, changed_since=query.since)
        found = await list_payments(tx, chosen, query.limit + 1, before=query.after or None)
        return Listed(found, map(present_payment, found))

    @_PAYMENTS.changes("POST", _ALL, dry_run=True, errors=(NOT_FOUND,))
    async def record_payment(self, tx: Transaction, now: datetime, body: PaymentRequest) -> Payment:
        """Record a payment or a refund.

        Of an invoice, or of a customer: then of the oldest due invoices. The rest stays on the account. A refund is of
        a customer, at most what is on the account. `force` records a payment although the same reference, amount and
        date are recorded. A dry run shows what the payment would pay.
        """
        return await record_new_payment(tx, body, now)

    @_PAYMENTS.changes("POST", f"{_ALL}/{{id}}/reverse")
    async def reverse_payment(
        self, tx: Transaction, now: datetime, payment_id: PaymentId, body: ReasonRequest
    ) -> Payment:
        """Reverse a payment.

        What it paid is due again. The money of a refund is on the account again.
        """
        return await reverse_payment(tx, payment_id, body.reason, now)
