"""`GET /payment`: a customer's payments."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.billing.operations.documents import csv_media
from tradecounter.billing.operations.examples import PAYMENT
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.days import Day, day_of
from tradecounter.edge.rest.headers import CONTENT_DISPOSITION, PAGING
from tradecounter.edge.rest.negotiation import CSV
from tradecounter.edge.rest.operation import Operation, Sample, Success, endpoint
from tradecounter.edge.rest.paging import COUNTED_BY_SIZE
from tradecounter.edge.rest.record_lists import Layout, PagedList, RecordLists
from tradecounter.payments.queries.payments import PaymentFilter, PaymentRecord, count_payments, list_payments
from tradecounter.payments.wire import CustomerPayment, own_payment, present_payment

_LAYOUT: Layout[CustomerPayment] = Layout(
    "payments", ("id", "received_on", "method", "reference", "amount", "invoices", "reversed_at", "reversal_reason")
)


class PaymentList(PagedList, frozen=True, kw_only=True):
    """The parameters of `GET /payment`; both days are included."""

    order_reference: Annotated[
        str | None,
        Meta(description="Only those that pay an invoice of the order with this reference.", examples=["PLN-100001"]),
    ] = None
    issued_from: (
        Annotated[Day, Meta(description="Only those received on this UK day or later.", examples=["2026-01-01"])] | None
    ) = None
    issued_to: (
        Annotated[Day, Meta(description="Only those received on this UK day or earlier.", examples=["2099-12-31"])]
        | None
    ) = None


class _Payments(Struct, frozen=True):
    """A customer's payments that match a filter."""

    chosen: PaymentFilter

    async def count(self, tx: Transaction) -> int:
        return await count_payments(tx, self.chosen)

    async def read(
        self, tx: Transaction, most: int, start: int, behind: PaymentRecord | None
    ) -> Sequence[PaymentRecord]:
        return await list_payments(tx, self.chosen, most, start=start, before=None if behind is None else behind.id)

    async def shown(self, _tx: Transaction, rows: Sequence[PaymentRecord]) -> Sequence[CustomerPayment]:
        return [own_payment(present_payment(payment)) for payment in rows]


class PaymentEndpoints(Struct, frozen=True):
    """The endpoint of payments."""

    lists: RecordLists

    @endpoint(
        Operation(
            method="GET",
            path="/payment",
            name="listPayments",
            key_scopes=("account",),
            tag="Documents",
            summary="List your payments, the latest recorded first",
            description=(
                "Also refunds and reversed payments. `issued_from` and `issued_to` are compared with `received_on`. "
                "With `Accept: text/csv`, a table. " + COUNTED_BY_SIZE
            ),
            query=PaymentList,
            success=Success(
                200,
                "The payments of one page.",
                list[CustomerPayment],
                {"List": [own_payment(PAYMENT)]},
                {CSV: csv_media(_LAYOUT.table(own_payment(PAYMENT)))},
                headers=(*PAGING, CONTENT_DISPOSITION),
            ),
            sample=Sample({"limit": "3"}),
            cacheable=True,
        )
    )
    async def list_payments(self, call: Call) -> Response:
        wanted = call.query(PaymentList)
        chosen = PaymentFilter(
            customer_id=call.customer_id,
            order_reference=text("order_reference", wanted.order_reference),
            received_from=day_of("issued_from", wanted.issued_from),
            received_to=day_of("issued_to", wanted.issued_to),
        )
        return await self.lists.respond(call, wanted, _Payments(chosen), _LAYOUT)
