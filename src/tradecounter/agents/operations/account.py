"""The tools that read the account and its invoices, and that ask support."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.agents.operations.tools import Caller, tool
from tradecounter.billing.invoices import shown_invoices
from tradecounter.billing.queries.invoice_records import InvoiceFilter, InvoiceRecord, fetch_invoice, list_invoices
from tradecounter.billing.wire import CustomerInvoice, own_invoice
from tradecounter.credit.queries import fetch_credit_room
from tradecounter.customer_requests.handle_requests import fetch_request, open_request
from tradecounter.customer_requests.wire import OpenRequestRequest, SupportRequest, own_request
from tradecounter.customers.operations.public import on_the_wire
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.queries.addresses import list_addresses
from tradecounter.customers.wire import Customer, SavedAddress
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import invalid
from tradecounter.kit.money import NOTHING
from tradecounter.kit.wire import Amount

_MOST_INVOICES = 50


class GetAccount(Struct):
    """Nothing is asked."""


class AccountCredit(Struct):
    """What the customer owes, and what is left."""

    credit_limit: Annotated[Amount, Meta(description="The most that the account may owe, in pounds.")]
    total_outstanding: Annotated[Amount, Meta(description="The unpaid gross of its confirmed orders.")]
    available_credit: Annotated[Amount, Meta(description="What new orders may cost together.")]


class AccountShown(Struct):
    """The customer, its credit and its address book."""

    customer: Customer
    credit: AccountCredit
    addresses: Annotated[list[SavedAddress], Meta(description="Saved addresses, to use in orders by their `id`.")]


class GetInvoice(Struct):
    """An invoice by its number, or all of an order."""

    number: Annotated[Annotated[int, Meta(ge=1, le=2**63 - 1)] | None, Meta(description="The invoice's number.")] = None
    order_reference: Annotated[
        Annotated[str, Meta(max_length=100)] | None, Meta(description="The order's reference.")
    ] = None


class Invoices(Struct):
    """Invoices with their lines."""

    invoices: Annotated[list[CustomerInvoice], Meta(description="The invoices, newest first, at most 50.")]


class AccountTools(Struct, frozen=True):
    """The tools that read the account, and that ask support."""

    database: Database
    clock: Clock

    @tool("Get the account", "account", agents=("order",))
    async def get_account(self, caller: Caller, request: GetAccount) -> AccountShown:
        """Read who the customer is, its credit, and its saved addresses with their ids."""
        async with reading(self.database) as tx:
            account = await fetch_account(tx, caller.customer_id)
            room = await fetch_credit_room(tx, caller.customer_id)
            addresses = await list_addresses(tx, caller.customer_id)
        credit = AccountCredit(room.limit or NOTHING, room.outstanding, room.available)
        return AccountShown(on_the_wire(account), credit, addresses)

    @tool("Get invoices", "account", agents=("order",))
    async def get_invoice(self, caller: Caller, request: GetInvoice) -> Invoices:
        """Read an invoice by its number, or the invoices of an order by the order's reference. Give one of the two."""
        async with reading(self.database) as tx:
            records = await self._records(tx, caller.customer_id, request)
            invoices = await shown_invoices(tx, records, self.clock.now())
        return Invoices([own_invoice(invoice) for invoice in invoices])

    @tool("Ask support", "order", "account", changes=True)
    async def open_request(self, caller: Caller, request: OpenRequestRequest) -> SupportRequest:
        """Ask support to cancel units of an order, to take dispatched units back, or anything else in words.

        Nothing changes until support has done it; the customer gets the answer by e-mail. A message needs the scope
        `account`.
        """
        if request.kind == "message":
            caller.sender.require_one_of("account")
        now = self.clock.now()
        async with transaction(self.database, caller.actor) as tx:
            request_id = await open_request(tx, caller.customer_id, request.order_reference, request.kind, request, now)
            return own_request(await fetch_request(tx, request_id))

    async def _records(self, tx: Transaction, customer_id: int, request: GetInvoice) -> Sequence[InvoiceRecord]:
        number, reference = request.number, request.order_reference
        if number is not None and reference is None:
            return [await fetch_invoice(tx, number, customer_id)]
        if number is None and reference is not None:
            wanted = InvoiceFilter(customer_id=customer_id, order_reference=reference.strip())
            return await list_invoices(tx, wanted, _MOST_INVOICES, 0)
        raise invalid("number", "give the number of an invoice, or the order_reference of its order")
