"""`/payment`: the payments of all customers, one payment, and the forms that record and reverse one."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta
from starlette.responses import Response

from tradecounter.audit.queries import entries_of
from tradecounter.backoffice.billing_steps import record_new_payment
from tradecounter.backoffice.billing_wire import PaymentRequest, Reversal
from tradecounter.backoffice.desk import text
from tradecounter.billing.queries.lookup import the_invoice
from tradecounter.billing.queries.money_tables import (
    PAYMENTS,
    PaymentRow,
    PaymentTableFilter,
)
from tradecounter.billing.queries.payments import the_payment
from tradecounter.billing.record_payment import METHODS, Method
from tradecounter.billing.reseller_wire import Payment, present_payment
from tradecounter.billing.reverse_payment import reverse_payment
from tradecounter.customers.queries.accounts import find_account, the_account
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.local_time import uk_date
from tradecounter.kit.money import in_pounds
from tradecounter.kit.numbers import read_id
from tradecounter.page_kit.forms import Filled, query_values
from tradecounter.page_kit.tables import Column, Sort, Table, TableParameters, csv_file, cursor_text
from tradecounter.pages.backoffice.parts import OfficeParts
from tradecounter.pages.listing import After, day_of, listed
from tradecounter.pages.operation import form, page
from tradecounter.pages.page_desk import PageDesk
from tradecounter.rest.call import Call

_COLUMNS = (
    Column("Payment", "recorded"),
    Column("Customer"),
    Column("Received", "received"),
    Column("Method"),
    Column("Bank reference"),
    Column("Pays"),
    Column("Amount", "amount", numeric=True),
)
_LATEST_FIRST = "-recorded"
_HEADINGS = ("id", "customer_id", "customer", "received_on", "method", "reference", "invoices", "reversed", "amount")
_METHOD_NAMES = [(method, method.replace("_", " ").capitalize()) for method in METHODS]


class PaymentTable(TableParameters, frozen=True, kw_only=True):
    """The filters of payments; both days are included."""

    customer_id: Annotated[int, Meta(ge=1)] | None = None
    invoice: Annotated[int, Meta(ge=1)] | None = None
    reference: str | None = None
    method: Method | None = None
    received_from: str | None = None
    received_to: str | None = None


@dataclass(frozen=True, slots=True)
class PaymentPages:
    """Payments."""

    desk: PageDesk
    parts: OfficeParts

    @page("/payment", "Payments", scope="billing:read", query=PaymentTable)
    async def list_payments(self, call: Call) -> Response:
        async def find(wanted: PaymentTable, sort: Sort, after: After) -> list[PaymentRow]:
            chosen = PaymentTableFilter(
                customer_id=wanted.customer_id,
                invoice=wanted.invoice,
                reference=text("reference", wanted.reference),
                method=wanted.method,
                received_from=day_of("received_from", wanted.received_from),
                received_to=day_of("received_to", wanted.received_to),
            )
            async with self.desk.reading() as tx:
                return await PAYMENTS.page(
                    tx, chosen, sort.column, wanted.most, descending=sort.descending, after=after
                )

        found = await listed(call, PaymentTable, PAYMENTS.sorts, _LATEST_FIRST, find)
        if found.is_file:
            return csv_file("payments", _HEADINGS, map(_file_row, found.rows))
        table = Table.of(
            call,
            self.desk.view(call).at("/payment"),
            _COLUMNS,
            found.rows,
            found.sort,
            lambda row: cursor_text(*PAYMENTS.place_of(row, found.sort.column)),
        )
        return self.desk.show(call, "money/payments.html", form=found.form, table=table, methods=_METHOD_NAMES)

    @page("/payment/new", "Record a payment", scope="billing:write")
    async def show_new(self, call: Call) -> Response:
        return await self._show_new(call, Filled())

    @form("/payment/new", "Record a payment", scope="billing:write")
    async def record(self, call: Call) -> Response:
        return await self.desk.change(
            call,
            PaymentRequest,
            record_new_payment,
            again=lambda filled: self._show_new(call, filled),
            to=lambda payment: f"/payment/{payment.id}",
            done=_said,
        )

    @page("/payment/{id}", "One payment", scope="billing:read")
    async def show_payment(self, call: Call) -> Response:
        payment_id = call.path_id("id", "payment")
        async with self.desk.reading() as tx:
            payment = present_payment(await the_payment(tx, payment_id))
            account = await the_account(tx, payment.customer_id)
            history = await entries_of(tx, [f"payment/{payment_id}"])
        left = payment.amount - sum(share.amount for share in payment.allocations)
        return self.desk.show(
            call, "money/payment.html", payment=payment, customer=account.name, left=left, history=history
        )

    @page("/payment/{id}/reverse", "Reverse a payment", scope="billing:write")
    async def show_reverse(self, call: Call) -> Response:
        return await self._show_reverse(call, Filled())

    @form("/payment/{id}/reverse", "Reverse a payment", scope="billing:write")
    async def reverse(self, call: Call) -> Response:
        payment_id = call.path_id("id", "payment")

        async def work(tx: Transaction, body: Reversal, now: datetime) -> Payment:
            return await reverse_payment(tx, payment_id, body.reason, now)

        return await self.desk.change(
            call,
            Reversal,
            work,
            again=lambda filled: self._show_reverse(call, filled),
            to=f"/payment/{payment_id}",
            done="The payment is reversed. What it paid is due again.",
        )

    async def _show_new(self, call: Call, filled: Filled) -> Response:
        """Show the form; the query may name an invoice or a customer, and an amount, a day and a reference."""
        given = {name: values[-1] for name, values in query_values(call.raw_query).items()}
        async with self.desk.reading() as tx:
            given |= await _known(tx, filled.value("invoice", given.get("invoice", "")), "invoice")
            given |= await _known(tx, filled.value("customer_id", given.get("customer_id", "")), "customer_id")
        today = uk_date(self.desk.clock.now())
        return self.desk.show(
            call, "money/new_payment.html", form=filled, given=given, today=today, methods=_METHOD_NAMES
        )

    async def _show_reverse(self, call: Call, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            payment = present_payment(await the_payment(tx, call.path_id("id", "payment")))
            account = await the_account(tx, payment.customer_id)
        return self.desk.show(call, "money/reverse.html", form=filled, payment=payment, customer=account.name)


async def _known(tx: Transaction, number: str, field: str) -> dict[str, Any]:
    """Return what is known of the invoice or the customer that a form names; nothing of an unknown one."""
    named = read_id(number.strip())
    if named is None:
        return {}
    if field == "customer_id":
        account = await find_account(tx, named)
        return {} if account is None else {"whose": account.name}
    try:
        invoice = await the_invoice(tx, named)
    except DomainError as error:
        if error.kind is not Kind.NOT_FOUND:
            raise
        return {}
    return {"due": invoice.due, "whose": (await the_account(tx, invoice.customer_id)).name}


def _said(payment: Payment) -> str:
    if payment.method == "refund":
        return f"The refund of {in_pounds(payment.amount)} is recorded."
    paid = " and ".join(str(share.invoice) for share in payment.allocations)
    return f"The payment of {in_pounds(payment.amount)} is recorded" + (f" for {paid}." if paid else " on the account.")


def _file_row(row: PaymentRow) -> tuple[object, ...]:
    invoices, reversed_ = " ".join(map(str, row.invoices)), "yes" if row.reversed_at else ""
    who = row.id, row.customer_id, row.customer
    return (*who, row.received_on, row.method, row.reference, invoices, reversed_, row.amount)
