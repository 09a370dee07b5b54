"""`/order/new` and `/order/{reference}/confirm`: staff choose for whom they order, and confirm a pending order."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.credit.queries import fetch_credit_room
from tradecounter.customers.named_customer import found_customers
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import step
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.orders.confirm_order import confirm_for_customer
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.offers import chosen_option, dated_now
from tradecounter.orders.operations.staff import SELLERS
from tradecounter.orders.queries.orders import lines_of_order
from tradecounter.orders.states import AnyOrder, ConfirmedOrder, shown_state
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.confirm_form import ConfirmForm, confirmation
from tradecounter.parts.shown import shown_order

_MOST_CHOICES = 25


class ChoiceParameters(Struct, frozen=True):
    """The query parameters of the page that chooses the customer, by a text or an id.

    `quote` asks for a quote; with `live`, the page lists customers while the text is typed, even a single one.
    """

    customer: str | None = None
    customer_id: Annotated[int, Meta(ge=1)] | None = None
    quote: Literal["true"] | None = None
    live: Literal["1"] | None = None


class OrderForCustomerPages(Struct, frozen=True):
    """The page before the form of an order for a caller, and the form that confirms an order."""

    desk: PageDesk
    parts: OfficeParts

    @page("/order/new", "A new order", scope="orders:write", roles=SELLERS, query=ChoiceParameters)
    async def choose_customer(self, call: Call) -> Response:
        wanted = call.query(ChoiceParameters)
        way = "" if wanted.quote is None else "?quote=true"
        if wanted.customer_id is not None:
            return self.desk.go(call, f"/order/new/{wanted.customer_id}{way}")
        text = wanted.customer or ""
        customers = []
        if text.strip():
            async with self.desk.reading() as tx:
                customers = await found_customers(tx, text, _MOST_CHOICES)
        if len(customers) == 1 and wanted.live is None:
            return self.desk.go(call, f"/order/new/{customers[0].id}{way}")
        values = {"customer": [text]} if text else {}
        return self.desk.show(
            call,
            "orders/choose.html",
            form=Filled(values),
            found=customers,
            asked=bool(text.strip()),
            way=way,
            live=wanted.live is not None,
        )

    async def _show(self, call: Call, filled: Filled) -> Response:
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            order = await shown_order(tx, self.parts.orders, call, now)
            room = await fetch_credit_room(tx, order.account.id)
            lines = await lines_of_order(tx, order.found.id)
        if isinstance(order.found, ConfirmedOrder):
            return self.desk.go(call, order.path, f"{order.name} is already confirmed.")
        if order.order.state != "pending" and not filled.message:
            raise DomainError(Kind.CONFLICT, f"the {order.found.kind} is {shown_state(order.found, now)}")
        return self.desk.show(
            call,
            "orders/confirm.html",
            form=filled,
            shown=replace(order, found=await dated_now(order.found, lines, self.parts.views, now)),
            room=room,
            lines=lines,
            chosen=chosen_option(order.found, order.account.shipping_method),
        )

    @step(
        "/order/{reference}/confirm",
        "Confirm an order",
        shown=_show,
        to=lambda order: f"/order/{order.name}",
        done=lambda order: f"{order.name} is confirmed. The customer gets an e-mail.",
        scope="orders:write",
        roles=SELLERS,
    )
    async def confirm(self, tx: Transaction, call: Call, body: ConfirmForm, now: datetime) -> AnyOrder:
        order = await fetch_order(tx, call.path_text("reference", "order"))
        return await confirm_for_customer(tx, order, confirmation(call, body), self.parts.contexts.policy, now)
