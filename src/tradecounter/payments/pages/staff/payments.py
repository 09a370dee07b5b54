"""`/payment`: the payments of all customers, one payment, and the forms that preview, record and reverse one."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.responses import Response

from tradecounter.audit.queries import entries_of
from tradecounter.billing.queries.ledger import invoice_balances, invoices_numbered, open_invoices
from tradecounter.customers.named_customer import MOST_FOUND, found_customers, named_customer
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.submitted_forms import Submitted, query_values
from tradecounter.edge.page_kit.tables import Cells, Column, Filter, TableOrder, TableParameters
from tradecounter.edge.pages.listing import RowsToRead, table_page
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import step
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.days import day_of
from tradecounter.kit.clock import uk_date
from tradecounter.kit.digest import seen_of
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.money import NOTHING, in_pounds
from tradecounter.kit.numbers import Id, read_id
from tradecounter.kit.wire import ReasonRequest, made_from
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.sentences import told_of
from tradecounter.payments.queries.payments import PAYMENTS, PaymentFilter, PaymentRecord, fetch_payment
from tradecounter.payments.record_payment import (
    METHODS,
    Method,
    NewPayment,
    PaymentRequest,
    invoices_in_words,
    record_payment,
    reverse_payment,
)
from tradecounter.payments.wire import Allocation, Payment, present_payment

UNASKED = Decimal("1.00")  # pounds more than is due that need no tick


def facts_of_payment(
    customer_id: int, amount: Decimal | None, allocations: Sequence[Allocation], *, is_refund: bool = False
) -> Any:
    """Return what a form or a button must have shown before a payment is recorded."""
    return customer_id, is_refund, amount, allocations


class PaymentPreview(Struct, frozen=True):
    """A payment as it was recorded, or would be; `due_then` is what remains due afterwards, by invoice."""

    payment: Payment
    customer: str
    due_then: Mapping[int, Decimal]

    @property
    def is_refund(self) -> bool:
        """Whether the money is given back."""
        return self.payment.method == "refund"

    @property
    def rest(self) -> Decimal:
        """The part of the payment that stays on the account."""
        return NOTHING if self.is_refund else self.payment.rest

    @property
    def is_asked_about(self) -> bool:
        """Whether the payment exceeds what is due by so much that it may be a slip."""
        return self.rest > UNASKED

    @property
    def facts(self) -> Any:
        """What the form must show before the payment is recorded."""
        payment = self.payment
        return facts_of_payment(payment.customer_id, payment.amount, payment.allocations, is_refund=self.is_refund)

    def require_answer(self, on_account: str) -> None:
        """Raise DomainError (invalid) unless `on_account` confirms that the rest stays on the account."""
        if self.is_asked_about and on_account != str(self.rest):
            raise DomainError(
                Kind.INVALID,
                f"{in_pounds(self.rest)} is more than is due: tick that it stays on the account, or correct the form",
            )


async def preview_of(tx: Transaction, payment: Payment) -> PaymentPreview:
    """Return the preview of a payment that this transaction has recorded."""
    account = await fetch_account(tx, payment.customer_id)
    due = {invoice.invoice: invoice.due for invoice in await open_invoices(tx, payment.customer_id)}
    return PaymentPreview(payment, account.name, due)


async def chosen_customer(tx: Transaction, text: str, picked: int | UnsetType) -> int | UnsetType:
    """Return the customer of a number, a name or an e-mail address; `picked` decides between several.

    Raises DomainError (invalid) for none, and for several without a choice.
    """
    if picked is not UNSET and picked in [customer.id for customer in await found_customers(tx, text)]:
        return picked
    number = await named_customer(tx, "customer_id", text)
    return UNSET if number is None else number


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
_CELLS: Cells = {
    "id": "id",
    "customer_id": "customer_id",
    "customer": "customer",
    "received_on": "received_on",
    "method": "method",
    "reference": "reference",
    "invoices": lambda row: " ".join(map(str, row.invoices)),
    "reversed": lambda row: "yes" if row.reversed_at else "",
    "amount": "amount",
}
_METHOD_NAMES = [(method, method.replace("_", " ").capitalize()) for method in METHODS]


class PaymentForm(NewPayment, frozen=True, kw_only=True):
    """A payment of an invoice, or of a customer, who is named by number, name or e-mail address.

    `picked` decides between several customers; `on_account` is the amount that is meant to stay on the account.
    """

    invoice: Id | UnsetType = UNSET
    customer_id: str = ""
    picked: Id | UnsetType = UNSET
    on_account: str = ""


class PaymentTable(TableParameters, frozen=True, kw_only=True):
    """The filters of payments; both days are included."""

    reference: Annotated[str | None, Filter("Bank reference")] = None
    invoice: Annotated[Annotated[int, Meta(ge=1)] | None, Filter("Invoice number", "numeric")] = None
    customer_id: Annotated[str | None, Filter("Customer", wide=True)] = None
    method: Annotated[Method | None, Filter("Method", "select", any="All", more=True)] = None
    received_from: Annotated[str | None, Filter("Received from", "date", more=True)] = None
    received_to: Annotated[str | None, Filter("Received until", "date", more=True)] = None


class PaymentPages(Struct, frozen=True):
    """Payments."""

    desk: PageDesk
    parts: OfficeParts

    @table_page(
        "/payment",
        "Payments",
        columns=_COLUMNS,
        order=TableOrder(PAYMENTS.sorts, _LATEST_FIRST, PAYMENTS.place_of),
        template="payments/payments.html",
        file="payments",
        cells=_CELLS,
        values={"methods": _METHOD_NAMES},
        scope="billing:read",
    )
    async def list_payments(self, tx: Transaction, wanted: PaymentTable, at: RowsToRead) -> list[PaymentRecord]:
        payment_filter = PaymentFilter(
            customer_id=await named_customer(tx, "customer_id", wanted.customer_id),
            invoice=wanted.invoice,
            reference=text("reference", wanted.reference),
            method=wanted.method,
            received_from=day_of("received_from", wanted.received_from),
            received_to=day_of("received_to", wanted.received_to),
        )
        return await PAYMENTS.page(tx, payment_filter, **at)

    @page("/payment/new", "Record a payment", scope="billing:write")
    async def show_new(self, call: Call) -> Response:
        query = {name: values[-1].strip() for name, values in query_values(call.raw_query).items()}
        due = await self._due(query.get("invoice", ""))
        if not due:
            return await self._show_new(call, Filled(), None, query)
        query = {"amount": str(due), "received_on": str(uk_date(self.desk.clock.now())), **query}
        submitted = Submitted({name: [value] for name, value in query.items()})
        preview, _ = await self.desk.preview(call, PaymentForm, _record, submitted)
        return await self._show_new(call, Filled(), preview, query)

    @form("/payment/new", "Record a payment", scope="billing:write")
    async def record(self, call: Call) -> Response:
        return await self.desk.change_as_seen(
            call,
            PaymentForm,
            _record,
            again=lambda filled, preview: self._show_new(call, filled, preview),
            facts=lambda preview: preview.facts,
            asked=lambda body, preview: preview.require_answer(body.on_account),
            to=lambda preview: f"/payment/{preview.payment.id}",
            done=lambda preview: said_of_payment(preview.payment),
        )

    @page("/payment/{id}", "One payment", scope="billing:read")
    async def show_payment(self, call: Call) -> Response:
        payment_id = call.path_id("id", "payment")
        async with self.desk.reading() as tx:
            record = await fetch_payment(tx, payment_id)
            history = await entries_of(tx, [f"payment/{payment_id}"])
        return self.desk.show(
            call,
            "payments/payment.html",
            payment=present_payment(record),
            customer=record.customer,
            history=told_of(history),
        )

    async def _payment(self, tx: Transaction, call: Call) -> dict[str, Any]:
        return {"payment": await fetch_payment(tx, call.path_id("id", "payment"))}

    @step(
        "/payment/{id}/reverse",
        "Reverse a payment",
        template="payments/reverse.html",
        values=_payment,
        to="/payment/{id}",
        done="The payment is reversed. What it paid is due again.",
        scope="billing:write",
    )
    async def reverse(self, tx: Transaction, call: Call, body: ReasonRequest, now: datetime) -> Payment:
        payment_id = call.path_id("id", "payment")
        return await reverse_payment(tx, payment_id, body.reason, now)

    async def _due(self, invoice: str) -> Decimal | None:
        """Return what is due of an invoice; None of an unknown one."""
        number = read_id(invoice.strip())
        if number is None:
            return None
        async with self.desk.reading() as tx:
            invoice_owners = await invoices_numbered(tx, [number])
            return (await invoice_balances(tx, [number]))[0].due if invoice_owners else None

    async def _show_new(
        self, call: Call, filled: Filled, preview: PaymentPreview | None, query: Mapping[str, str] | None = None
    ) -> Response:
        """Show the form, with what it would pay; `query` may name an invoice, a customer and further values."""
        query, sought = query or {}, filled.value("customer_id")
        async with self.desk.reading() as tx:
            customers = await found_customers(tx, sought) if sought and read_id(sought.strip()) is None else []
        return self.desk.show(
            call,
            "payments/new_payment.html",
            form=filled,
            given=query,
            today=uk_date(self.desk.clock.now()),
            methods=_METHOD_NAMES,
            preview=preview,
            seen="" if preview is None else seen_of(preview.facts),
            found=customers if len(customers) > 1 else [],
            most=MOST_FOUND,
        )


async def _record(tx: Transaction, body: PaymentForm, now: datetime) -> PaymentPreview:
    customer_id = await chosen_customer(tx, body.customer_id, body.picked)
    payment = await record_payment(tx, made_from(body, PaymentRequest, customer_id=customer_id), now)
    return await preview_of(tx, payment)


def said_of_payment(payment: Payment) -> str:
    """Return the message of a page after a payment or a refund is recorded."""
    if payment.method == "refund":
        return f"The refund of {in_pounds(payment.amount)} is recorded."
    paid = [share.invoice for share in payment.allocations]
    place = f"for {invoices_in_words(paid)}" if paid else "on the account"
    return f"The payment of {in_pounds(payment.amount)} is recorded {place}."
