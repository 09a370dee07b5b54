"""`/account/order/{reference}`: one order."""

from dataclasses import dataclass

from starlette.responses import Response

from tradecounter.customers.address_lines import address_lines
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.own_roles import BUYER
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.kit.local_time import moment_of
from tradecounter.orders.pages.account.shown import shown_order
from tradecounter.orders.queries.orders import find_own_order
from tradecounter.orders.withdraw_order import fetch_own_order_by_code
from tradecounter.parts.account import AccountParts


@dataclass(frozen=True, slots=True)
class OwnOrderPages:
    """The page of an order. An order that is not confirmed yet, or a quote, has a page of its own."""

    desk: PageDesk
    parts: AccountParts

    @page("/account/order/{reference}", "One order", user_roles=BUYER)
    async def show_order(self, call: Call) -> Response:
        reference = call.path_text("reference", "order")
        async with self.desk.reading() as tx:
            order = await find_own_order(tx, call.customer_id, reference)
            if order is None:
                other = await fetch_own_order_by_code(tx, call.customer_id, reference)
                kind = "quote" if other.kind == "quote" else "new-order"
                return self.desk.go(call, f"/account/{kind}/{other.confirmation_code}")
            shown = await shown_order(tx, order, self.parts.fulfilment, self.desk.clock.now())
        return self.desk.show(
            call, "orders/order.html", shown=shown, order=order, address_lines=address_lines, moment_of=moment_of
        )
