"""`/order/{reference}/confirm`: staff confirm a pending order for its customer."""

from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.credit.queries import fetch_credit_room
from tradecounter.customers.address_rules import address_lines
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import step
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.orders.confirm_for_customer import confirm_for_customer
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.operations.staff import SELLERS
from tradecounter.orders.operations.steps import ConfirmForm, confirmation
from tradecounter.orders.queries.lines import lines_of_order
from tradecounter.orders.shown_options import chosen_option, dated_now
from tradecounter.orders.states import AnyOrder, ConfirmedOrder, shown_state
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.shown_order import shown_order


class ConfirmPages(Struct, frozen=True):
    """The form that confirms an order."""

    desk: PageDesk
    parts: OfficeParts

    @step(
        "/order/{reference}/confirm",
        "Confirm an order",
        shown=lambda self, call, filled: self._show(call, filled),
        to=lambda order: f"/order/{order.name}",
        done=lambda order: f"{order.name} is confirmed. The customer gets an e-mail.",
        scope="orders:write",
        roles=SELLERS,
    )
    async def confirm(self, tx: Transaction, call: Call, body: ConfirmForm, now: datetime) -> AnyOrder:
        order = await fetch_order(tx, call.path_text("reference", "order"))
        return await confirm_for_customer(tx, order, confirmation(call, body), self.parts.contexts.policy, now)

    async def _show(self, call: Call, filled: Filled) -> Response:
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            shown = await shown_order(tx, self.parts.orders, call, now)
            room = await fetch_credit_room(tx, shown.account.id)
            lines = await lines_of_order(tx, shown.found.id)
        if isinstance(shown.found, ConfirmedOrder):
            return self.desk.go(call, shown.path, f"{shown.name} is already confirmed.")
        if shown.order.state != "pending" and not filled.message:
            raise DomainError(Kind.CONFLICT, f"the {shown.found.kind} is {shown_state(shown.found, now)}")
        return self.desk.show(
            call,
            "orders/confirm.html",
            form=filled,
            shown=replace(shown, found=await dated_now(shown.found, lines, self.parts.views, now)),
            room=room,
            lines=lines,
            chosen=chosen_option(shown.found, shown.account.shipping_method),
            address_lines=address_lines,
        )
