"""`GET /payment`: a customer's payments."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.days import Day, day_of
from tradecounter.edge.rest.headers import PAGING
from tradecounter.edge.rest.negotiation import CSV
from tradecounter.edge.rest.operation import Sample, csv_media
from tradecounter.edge.rest.paging import COUNTED_BY_SIZE
from tradecounter.edge.rest.record_lists import Layout, PagedList, RecordLists
from tradecounter.payments.operations.examples import PAYMENT
from tradecounter.payments.queries.payments import PaymentFilter, PaymentRecord, count_payments, list_payments
from tradecounter.payments.wire import CustomerPayment, own_payment, present_payment

_LAYOUT: Layout[CustomerPayment] = Layout(
    "payments", ("id", "received_on", "method", "reference", "amount", "invoices", "reversed_at", "reversal_reason")
)
_DOCUMENTS = Subject(
    tag="Documents", keys=("account",), described={CustomerPayment: Described("", own_payment(PAYMENT))}
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
        self, tx: Transaction, most: int, start: int, after: PaymentRecord | None
    ) -> Sequence[PaymentRecord]:
        chosen = self.chosen if after is None else replace(self.chosen, before=after.id)
        return await list_payments(tx, chosen, most, start)

    async def shown(self, _tx: Transaction, rows: Sequence[PaymentRecord]) -> Sequence[CustomerPayment]:
        return [own_payment(present_payment(payment)) for payment in rows]


class PaymentEndpoints(Struct, frozen=True):
    """The endpoint of payments."""

    lists: RecordLists

    @_DOCUMENTS.shows(
        "/payment",
        "The payments of one page.",
        headers=PAGING,
        files={CSV: csv_media(_LAYOUT.table(own_payment(PAYMENT)))},
        description="Also refunds and reversed payments. `issued_from` and `issued_to` are compared with "
        "`received_on`. With `Accept: text/csv`, a table. " + COUNTED_BY_SIZE,
        sample=Sample({"limit": "3"}),
        cacheable=True,
    )
    async def list_payments(self, call: Call, query: PaymentList) -> list[CustomerPayment] | Response:
        """List your payments, the latest recorded first."""
        payment_filter = PaymentFilter(
            customer_id=call.customer_id,
            order_reference=text("order_reference", query.order_reference),
            received_from=day_of("issued_from", query.issued_from),
            received_to=day_of("issued_to", query.issued_to),
        )
        return await self.lists.respond(call, query, _Payments(payment_filter), _LAYOUT)
