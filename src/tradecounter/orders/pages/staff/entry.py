"""`/order/new`: staff order for a customer, with quick lines."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.customers.named_customer import found_customers
from tradecounter.customers.operations.staff import present_customer
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.queries.addresses import list_addresses
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled, Submitted, in_rows, read_submitted, row_numbers, without_copies
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PREVIEW, PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import STATUS
from tradecounter.edge.session import require_right
from tradecounter.kit.errors import DomainError, named_by
from tradecounter.kit.json_text import to_json
from tradecounter.kit.keys import key_form
from tradecounter.orders.create.quick_lines import read_quick_lines
from tradecounter.orders.operations.sales import SELLERS, create_sale, quote_sale, read_sale
from tradecounter.orders.pages.staff.address_form import (
    ANOTHER,
    TypedAddress,
    address_fields,
    chosen_address,
    saved_choices,
)
from tradecounter.orders.pages.staff.product_rows import picked, product_rows
from tradecounter.orders.reseller_wire import OverrideCredit
from tradecounter.orders.staff_wire import OrderRequest
from tradecounter.orders.states import AnyOrder
from tradecounter.orders.wire import MOST_UNITS, CreateOrderItem, NotificationDetails
from tradecounter.parts.back_office import OfficeParts

_ROW = re.compile(r"items-(\d{1,4})-(?:sku|quantity)")
_GROUP, _BLANK_ROWS = "items", 4
_MOST_CHOICES = 25
_CREATED = "The order is created. Nothing is charged or reserved until you confirm it."
_QUOTED = "The quote is created: price it now, or leave it to a colleague."
_SAME = "same"  # the billing address is the delivery address


class ChoiceParameters(Struct, frozen=True):
    """The query parameters of the page on which the customer is chosen, by a text or its id."""

    customer: str | None = None
    customer_id: Annotated[int, Meta(ge=1)] | None = None


class OrderedRow(Struct):
    """A line in the form."""

    sku: str
    quantity: Annotated[int, Meta(ge=1, le=MOST_UNITS)] = 1


class NewOrderForm(Struct):
    """An order as typed; addresses are ids of saved ones, or words."""

    customer_reference: str
    items: list[OrderedRow] = []
    address: str = ANOTHER
    billing: str = _SAME
    shipping_address: TypedAddress | None = None
    contact: str | None = None
    override: str | None = None
    quote: bool = False


@dataclass(frozen=True, slots=True)
class OrderEntryPages:
    """The pages on which staff order for a customer."""

    desk: PageDesk
    parts: OfficeParts

    @page("/order/new", "A new order", scope="orders:write", roles=SELLERS, query=ChoiceParameters)
    async def choose_customer(self, call: Call) -> Response:
        wanted = call.query(ChoiceParameters)
        if wanted.customer_id is not None:
            return self.desk.go(call, f"/order/new/{wanted.customer_id}")
        text = wanted.customer or ""
        found = []
        if text.strip():
            async with self.desk.reading() as tx:
                found = await found_customers(tx, text, _MOST_CHOICES)
        if len(found) == 1:
            return self.desk.go(call, f"/order/new/{found[0].id}")
        values = {"customer": [text]} if text else {}
        return self.desk.show(call, "orders/choose.html", form=Filled(values), found=found, asked=bool(text.strip()))

    @page("/order/new/{customer_id}", "A new order for a customer", scope="orders:write", roles=SELLERS)
    async def show_entry(self, call: Call) -> Response:
        return await self._show(call, Filled())

    @form("/order/new/{customer_id}", "Create an order for a customer", scope="orders:write", roles=SELLERS)
    async def create(self, call: Call) -> Response:
        submitted = await read_submitted(call)
        if submitted.one(PREVIEW) == "live":
            return await self._show(call, Filled(submitted.values))
        if (pick := picked(submitted, _GROUP)) is not None:
            return await self._show(call, pick[1], chosen=pick[0])
        try:
            submitted = _with_pasted_lines(submitted)
        except DomainError as error:
            return await self._show(call, Filled.of(submitted, error, STATUS[error.kind]))
        if submitted.one(PREVIEW):
            return await self._show(call, Filled(submitted.values))

        is_quote = bool(submitted.one("quote"))

        async def work(tx: Transaction, body: NewOrderForm, now: datetime) -> AnyOrder:
            if body.override is not None:
                require_right(call.request, "billing:write")
            items, places = _added_up(body.items)
            with (
                named_by(in_rows("items", places)),
                without_copies("billing_address", "shipping_address", copied=body.billing == _SAME),
            ):
                wanted = to_json(_order(_customer_of(call), body, items))
                sale = await read_sale(tx, wanted, self.parts.contexts, now)
                if body.quote:
                    return await quote_sale(tx, sale, self.parts.contexts, now)
                return await create_sale(tx, sale, self.parts.contexts, now)

        return await self.desk.change(
            call,
            NewOrderForm,
            work,
            again=lambda filled: self._show(call, filled),
            to=lambda made: ("/quote/{}" if is_quote else "/order/{}/confirm").format(made.confirmation_code),
            done=_QUOTED if is_quote else _CREATED,
            submitted=submitted,
        )

    async def _show(self, call: Call, filled: Filled, chosen: int | None = None) -> Response:
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            account = await fetch_account(tx, _customer_of(call))
            customer = await present_customer(tx, account, now)
            addresses = await list_addresses(tx, account.id)
            whole = await self.parts.contexts.views.of(account.id)
            rows = await product_rows(tx, filled.values, _GROUP, whole, account.id, blank=_BLANK_ROWS, now=now)
        return self.desk.show(
            call,
            "orders/entry.html",
            form=filled,
            customer=customer,
            name=account.name,
            rows=rows,
            picked=chosen,
            net=sum(row.offered.cost_net for row in rows if row.offered),
            units=sum(row.offered.quantity for row in rows if row.offered),
            addresses=[*saved_choices(addresses), (ANOTHER, "Another address, typed below")],
            billing=[(_SAME, "The delivery address"), *saved_choices(addresses)],
            fields=address_fields(),
        )


def _customer_of(call: Call) -> int:
    return call.path_id("customer_id", "customer")


def _added_up(rows: Sequence[OrderedRow]) -> tuple[list[CreateOrderItem], list[int]]:
    """Return the lines to order, a SKU on several rows as one, and the place of the first row of each."""
    items: dict[str, CreateOrderItem] = {}
    places: dict[str, int] = {}
    for place, row in enumerate(rows):
        key = key_form(row.sku)
        first = items.get(key, CreateOrderItem(row.sku, 0))
        items[key] = CreateOrderItem(first.sku, first.quantity + row.quantity)
        places.setdefault(key, place)
    return list(items.values()), list(places.values())


def _order(customer_id: int, body: NewOrderForm, items: Sequence[CreateOrderItem]) -> OrderRequest:
    shipping = chosen_address(body.address, body.shipping_address)
    return OrderRequest(
        customer_id=customer_id,
        customer_reference=body.customer_reference,
        items=list(items),
        billing_address=shipping if body.billing == _SAME else chosen_address(body.billing, None),
        shipping_address=shipping,
        order_notifications=None if body.contact is None else NotificationDetails(email_address=body.contact),
        override_credit=None if body.override is None else OverrideCredit(body.override),
    )


def _with_pasted_lines(submitted: Submitted) -> Submitted:
    """Return a form whose pasted lines are rows behind the typed ones. Raises DomainError (invalid)."""
    pasted = read_quick_lines(submitted.one("lines"))
    typed = [
        (submitted.one(f"items-{n}-sku"), submitted.one(f"items-{n}-quantity"))
        for n in row_numbers(submitted.values, _GROUP)
    ]
    rows = [*(row for row in typed if any(row)), *((item.sku, str(item.quantity)) for item in pasted)]
    values = {name: value for name, value in submitted.values.items() if name != "lines" and not _ROW.fullmatch(name)}
    for number, (sku, quantity) in enumerate(rows):
        values |= {f"items-{number}-sku": [sku], f"items-{number}-quantity": [quantity]}
    return Submitted(values, submitted.files)
