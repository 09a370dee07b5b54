"""`/api/payment`: payments and their reversal."""

from dataclasses import dataclass
from datetime import datetime

from starlette.responses import Response

from tradecounter.backoffice import billing_examples as examples
from tradecounter.backoffice.billing_steps import record_new_payment
from tradecounter.backoffice.billing_wire import PaymentListParameters, PaymentRequest, Reversal
from tradecounter.backoffice.desk import NEXT, POST_HEADERS, Desk, DryRun, page
from tradecounter.backoffice.error_responses import CONFLICT
from tradecounter.billing.queries.payments import PaymentFilter, list_payments
from tradecounter.billing.reseller_wire import Payment, present_payment
from tradecounter.billing.reverse_payment import reverse_payment
from tradecounter.db.transaction import Transaction
from tradecounter.rest.call import Call
from tradecounter.rest.common_errors import NOT_FOUND
from tradecounter.rest.headers import IDEMPOTENT_REPLAY
from tradecounter.rest.operation import ID, Body, Operation, Parameter, Success, endpoint

_PAYMENT = Success(200, "The payment.", Payment, {"Payment": examples.PAYMENT}, headers=(IDEMPOTENT_REPLAY,))


@dataclass(frozen=True, slots=True)
class PaymentDesk:
    """The endpoints of payments."""

    desk: Desk

    @endpoint(
        Operation(
            method="GET",
            path="/api/payment",
            name="listPayments",
            tag="Billing",
            summary="Payments of all customers",
            description="The latest recorded first.",
            query=PaymentListParameters,
            success=Success(200, "The payments.", list[Payment], {"List": [examples.PAYMENT]}, headers=(NEXT,)),
            scope="billing:read",
        )
    )
    async def list_payments(self, call: Call) -> Response:
        wanted = call.query(PaymentListParameters)
        chosen = PaymentFilter(customer_id=wanted.customer_id, invoice=wanted.invoice)
        async with self.desk.reading() as tx:
            found = await list_payments(tx, chosen, wanted.limit + 1, before=wanted.after or None)
        shown = (present_payment(payment) for payment in found[: wanted.limit])
        return page(call, found, wanted.limit, lambda payment: payment.id, shown)

    @endpoint(
        Operation(
            method="POST",
            path="/api/payment",
            name="recordPayment",
            tag="Billing",
            summary="Record a payment or a refund",
            description=(
                "Of an invoice, or of a customer: then of the oldest due invoices. The rest stays on the account. "
                "A refund is of a customer, at most what is on the account. `force` records a payment although the "
                "same reference, amount and date are recorded. A dry run shows what the payment would pay."
            ),
            query=DryRun,
            request_headers=POST_HEADERS,
            body=Body(PaymentRequest, {"Payment": examples.NEW_PAYMENT}),
            success=_PAYMENT,
            errors=(NOT_FOUND, CONFLICT),
            scope="billing:write",
        )
    )
    async def record_payment(self, call: Call) -> Response:
        dry_run = call.query(DryRun).is_wanted
        return await self.desk.change(call, PaymentRequest, record_new_payment, dry_run=dry_run)

    @endpoint(
        Operation(
            method="POST",
            path="/api/payment/{id}/reverse",
            name="reversePayment",
            tag="Billing",
            summary="Reverse a payment",
            description="What it paid is due again. The money of a refund is on the account again.",
            path_parameters=(Parameter("id", "The payment's id.", ID, 61),),
            request_headers=POST_HEADERS,
            body=Body(Reversal, {"Reversal": examples.REVERSAL}),
            success=_PAYMENT,
            errors=(NOT_FOUND, CONFLICT),
            scope="billing:write",
        )
    )
    async def reverse_payment(self, call: Call) -> Response:
        payment_id = call.path_id("id", "payment")

        async def work(tx: Transaction, body: Reversal, now: datetime) -> Payment:
            return await reverse_payment(tx, payment_id, body.reason, now)

        return await self.desk.change(call, Reversal, work)
