"""`/account/invoice/remittance`: the customer announces which invoices it has paid."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime

from msgspec import Struct
from starlette.responses import Response

from tradecounter.billing.queries.invoice_records import InvoiceRecord, invoices_to_pay
from tradecounter.billing.queries.ledger import open_invoices
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.submitted_forms import query_values
from tradecounter.edge.pages.operation import ACCOUNTS, page, user_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import action
from tradecounter.edge.rest.call import Call
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import named_by
from tradecounter.kit.money import in_pounds
from tradecounter.parts.account import AccountParts
from tradecounter.payments.queries.remittances import RemittanceAdvice, awaited_of, remittance_table
from tradecounter.payments.remittances import (
    AWAITED_FOR,
    MOST_INVOICES,
    PaidInvoices,
    announce_payment,
    withdraw_remittance,
)

_PATH = "/account/invoice/remittance"
_MOST_TOLD = 20


class RemittancePages(Struct, frozen=True):
    """What the customer has paid."""

    desk: PageDesk
    parts: AccountParts

    @page(_PATH, "We have paid these", user_roles=ACCOUNTS)
    async def show_remittances(self, call: Call, filled: Filled) -> Response:
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            unpaid = await invoices_to_pay(tx, call.customer_id, MOST_INVOICES + 1)
            awaited = await awaited_of(tx, [call.customer_id], now - AWAITED_FOR)
            due = {invoice.invoice for invoice in await open_invoices(tx, call.customer_id)}
            remittances = await remittance_table(tx, call.customer_id, None, _MOST_TOLD)
        invoices, are_more = unpaid[:MOST_INVOICES], len(unpaid) > MOST_INVOICES
        waiting = {number for remittance in awaited for number in remittance.invoices}
        chosen = _chosen(call.raw_query, invoices, now) - waiting
        return self.desk.show(
            call,
            "payments/remittance.html",
            form=filled,
            invoices=invoices,
            are_more=are_more,
            waiting=waiting,
            chosen=chosen,
            told=[(remittance, _state(remittance, awaited, due)) for remittance in remittances],
            now=now,
            today=uk_date(now),
        )

    @action(
        _PATH,
        "We have paid these",
        shown=show_remittances,
        to=_PATH,
        done=lambda told: f"Thank you. {in_pounds(told.amount)} pays these invoices once it is in our bank file.",
        user_roles=ACCOUNTS,
    )
    async def tell(self, tx: Transaction, call: Call, body: PaidInvoices, now: datetime) -> RemittanceAdvice:
        with named_by(lambda place: place.partition("[")[0]):  # all invoices are one field of the form
            return await announce_payment(tx, call.customer_id, user_of(call).id, body, now)

    @action(
        f"{_PATH}/{{id}}/take-back",
        "Withdraw an announced payment",
        shown=show_remittances,
        to=_PATH,
        done="It is withdrawn.",
        user_roles=ACCOUNTS,
    )
    async def take_back(self, tx: Transaction, call: Call, now: datetime) -> None:
        await withdraw_remittance(tx, call.customer_id, call.path_id("id", "remittance"), now)


def _chosen(raw_query: str, invoices: Sequence[InvoiceRecord], now: datetime) -> set[int]:
    """Return the invoices that are ticked at first: the only one, or the overdue ones if the query asks for them."""
    if "overdue" in query_values(raw_query).get("show", ()):
        return {invoice.number for invoice in invoices if invoice.state(now) == "overdue"}
    return {invoice.number for invoice in invoices} if len(invoices) == 1 else set()


def _state(remittance: RemittanceAdvice, awaited: Sequence[RemittanceAdvice], due: AbstractSet[int]) -> str:
    if remittance.payment_id is not None:
        return "received"
    if remittance in awaited:
        return "waiting"
    return "paid otherwise" if due.isdisjoint(remittance.invoices) else "not arrived"
