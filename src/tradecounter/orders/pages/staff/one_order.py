"""`/order/{reference}`: one order with all that happened to it."""

from datetime import datetime

from msgspec import Struct
from starlette.responses import Response

from tradecounter.approvals.queries import find_approval_of_order
from tradecounter.credit.queries import fetch_credit_room
from tradecounter.customer_requests.queries import requests_of_order
from tradecounter.customers.address_rules import address_lines
from tradecounter.db.transaction import Transaction
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.orders.history import audited_as
from tradecounter.orders.states import AnyOrder, PendingOrder
from tradecounter.orders.waiting import Wait, wait_of_pending
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.sentences import history_of
from tradecounter.parts.shown_order import shown_order
from tradecounter.shipments.picking_list import shelves_of
from tradecounter.shipments.queries.reads import find_video

_DISPATCH = "/order/{reference}/dispatch"


class OrderPages(Struct, frozen=True):
    """The page of one order."""

    desk: PageDesk
    parts: OfficeParts

    @page("/order/{reference}", "One order", scope="orders:read")
    async def show_order(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            shown = await shown_order(tx, self.parts.orders, call, self.desk.clock.now())
            video = await find_video(tx, shown.order.id)
            wait = await _wait(tx, shown.found, self.desk.clock.now())
            requests = await requests_of_order(tx, shown.found.id)
            is_picked_here = shown.is_confirmed and shown.allocated and self.desk.view(call).may(_DISPATCH)
            shelves = await shelves_of(tx, shown.found.id) if is_picked_here else {}
        rank = {line_id: number for number, line_id in enumerate(shelves)}
        return self.desk.show(
            call,
            "orders/order.html",
            shown=shown,
            by_place=sorted(shown.items, key=lambda line: rank.get(line.item.id, len(rank))),
            address_lines=address_lines,
            video=video,
            requests=requests,
            wait=wait,
            shelves=shelves,
            history=history_of(shown.order),
            subject=audited_as(shown.found),
        )


async def _wait(tx: Transaction, order: AnyOrder, now: datetime) -> Wait | None:
    """Return what an order that is not confirmed waits for."""
    if not isinstance(order, PendingOrder) or order.kind == "quote" or order.has_expired(now):
        return None
    approval = await find_approval_of_order(tx, order.id, now)
    asked_at = approval.requested_at if approval is not None and approval.state == "waiting" else None
    return wait_of_pending(
        order.least_gross, order.expires_at, asked_at, await fetch_credit_room(tx, order.customer_id)
    )
