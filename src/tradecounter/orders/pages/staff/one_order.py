"""`/order/{reference}`: one order with all that happened to it."""

from dataclasses import dataclass

from starlette.responses import Response

from tradecounter.customer_requests.queries import requests_of_order
from tradecounter.customers.address_rules import address_lines
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.shown_order import shown_order
from tradecounter.shipments.queries.reads import find_video


@dataclass(frozen=True, slots=True)
class OrderPages:
    """The page of one order."""

    desk: PageDesk
    parts: OfficeParts

    @page("/order/{reference}", "One order", scope="orders:read")
    async def show_order(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            shown = await shown_order(tx, self.parts.orders, call, self.desk.clock.now())
            video = await find_video(tx, shown.order.id)
            requests = await requests_of_order(tx, shown.found.id)
        return self.desk.show(
            call, "orders/order.html", shown=shown, address_lines=address_lines, video=video, requests=requests
        )
