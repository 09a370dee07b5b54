"""`/api/order`: orders of all customers, and what happens to them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta
from starlette.responses import Response

from tradecounter.backoffice import examples
from tradecounter.backoffice.desk import (
    CREATED,
    LOCATION,
    NEXT,
    POST_HEADERS,
    Address,
    Body,
    Desk,
    DryRun,
    PageParameters,
    page,
)
from tradecounter.backoffice.error_responses import CONFLICT
from tradecounter.backoffice.order_steps import add_tracking, cancel_units, dispatch_units, order_filter
from tradecounter.backoffice.order_wire import (
    Cancellation,
    Dispatch,
    Invoicing,
    NoteRequest,
    ResellerOrder,
    State,
    Tracking,
)
from tradecounter.backoffice.present_order import OrderPresenter
from tradecounter.billing.issue_invoice import issue_invoice
from tradecounter.catalogue.wire import Product
from tradecounter.db.transaction import Transaction
from tradecounter.fulfilment.add_video import add_video
from tradecounter.fulfilment.wire import OrderVideoResponse
from tradecounter.letterhead.seller import Letterhead
from tradecounter.ordering.add_note import add_note
from tradecounter.ordering.lookup import any_order
from tradecounter.ordering.queries.lookup import orders_after
from tradecounter.rest.call import Call
from tradecounter.rest.common_errors import NOT_FOUND
from tradecounter.rest.headers import IDEMPOTENT_REPLAY
from tradecounter.rest.operation import TEXT, Operation, Parameter, Success, endpoint
from tradecounter.rest.operation import Body as RequestBody
from tradecounter.rest.responses import json_response

REFERENCE = Parameter("reference", "The order's reference, id or confirmation code.", TEXT, "ORD-100001")
ORDER = Success(200, "The order.", ResellerOrder, {"Order": examples.ORDER}, headers=(IDEMPOTENT_REPLAY,))


class OrderListParameters(PageParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/order`. Orders must match all of them."""

    state: Annotated[State | None, Meta(description="Only orders in this state.")] = None
    status: Annotated[str | None, Meta(description="Only orders with this status, in any case.")] = None
    customer_id: Annotated[int, Meta(ge=1, description="Only this customer's orders.")] | None = None
    reference: Annotated[str | None, Meta(description="Only orders whose reference begins with this.")] = None
    customer_reference: Annotated[str | None, Meta(description="Only orders with this customer reference.")] = None
    sku: Annotated[str | None, Meta(description="Only orders with this product.")] = None
    created_from: Annotated[str | None, Meta(description="Only orders placed at this time or later.")] = None
    created_to: Annotated[
        str | None, Meta(description="Only orders placed before this time; a date includes the whole day.")
    ] = None


def order_step(
    name: str,
    path: str,
    summary: str,
    *,
    roles: tuple[str, ...] = (),
    parameters: tuple[Parameter, ...] = (),
    **more: Any,
) -> Operation:
    """Return the operation of a step that responds with the order."""
    return Operation(
        method="POST",
        path=f"/api/order/{{reference}}/{path}",
        name=name,
        tag="Orders",
        summary=summary,
        path_parameters=(REFERENCE, *parameters),
        request_headers=POST_HEADERS,
        success=ORDER,
        errors=(NOT_FOUND, CONFLICT, *more.pop("errors", ())),
        scope="orders:write",
        roles=roles,
        **more,
    )


BY_WAREHOUSE = ("support", "warehouse", "administrator")


@dataclass(frozen=True, slots=True)
class OrderDesk:
    """The endpoints of orders; with `invoice_each_dispatch`, the worker invoices each shipment."""

    desk: Desk
    orders: OrderPresenter
    letterhead: Letterhead
    invoice_each_dispatch: bool

    @endpoint(
        Operation(
            method="GET",
            path="/api/order",
            name="listOrders",
            tag="Orders",
            summary="Orders of all customers",
            description="Quotes are orders too; unconfirmed ones are in state `pending`.",
            query=OrderListParameters,
            success=Success(200, "The orders.", list[ResellerOrder], {"List": [examples.ORDER]}, headers=(NEXT,)),
            errors=(NOT_FOUND,),
            scope="orders:read",
        )
    )
    async def list_orders(self, call: Call) -> Response:
        wanted = call.query(OrderListParameters)
        async with self.desk.reading() as tx:
            found = await orders_after(tx, await order_filter(tx, wanted), wanted.after, wanted.limit + 1)
            shown = await self.orders.many(tx, found[: wanted.limit], self.desk.clock.now())
        return page(call, found, wanted.limit, lambda order: order.id, shown)

    @endpoint(
        Operation(
            method="GET",
            path="/api/order/{reference}",
            name="getOrder",
            tag="Orders",
            summary="One order",
            path_parameters=(REFERENCE,),
            success=Success(200, "The order.", ResellerOrder, {"Order": examples.ORDER}),
            errors=(NOT_FOUND,),
            referenced=(Product,),
            scope="orders:read",
        )
    )
    async def show_order(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            order = await any_order(tx, call.path_text("reference", "order"))
            return json_response(await self.orders.one(tx, order, self.desk.clock.now()))

    @endpoint(
        order_step(
            "dispatchOrder",
            "dispatch",
            "Dispatch all or a part as one shipment",
            roles=BY_WAREHOUSE,
            body=RequestBody(Dispatch, {"Dispatch": examples.DISPATCH}, required=False),
        )
    )
    async def dispatch_order(self, call: Call) -> Response:
        async def step(tx: Transaction, reference: str, body: Dispatch, now: datetime) -> None:
            await dispatch_units(tx, reference, body, now, invoice=self.invoice_each_dispatch)

        return await self._take(call, Dispatch, step)

    @endpoint(
        order_step(
            "trackOrder",
            "tracking",
            "Add a tracking event to a shipment",
            roles=BY_WAREHOUSE,
            body=RequestBody(Tracking, {"Tracking": examples.TRACKING}),
        )
    )
    async def track_order(self, call: Call) -> Response:
        async def step(tx: Transaction, reference: str, body: Tracking, now: datetime) -> None:
            await add_tracking(tx, reference, body, now)

        return await self._take(call, Tracking, step)

    @endpoint(
        order_step(
            "setVideo",
            "video",
            "Set the addresses of the packing video",
            roles=BY_WAREHOUSE,
            body=RequestBody(OrderVideoResponse, {"Video": examples.VIDEO}),
        )
    )
    async def set_video(self, call: Call) -> Response:
        async def step(tx: Transaction, reference: str, body: OrderVideoResponse, now: datetime) -> None:
            await add_video(tx, reference, body, now)

        return await self._take(call, OrderVideoResponse, step)

    @endpoint(
        order_step(
            "cancelOrder",
            "cancel",
            "Cancel an order or a quote, or units that are not dispatched",
            description="Its stock and credit are released, and the customer gets an e-mail.",
            query=DryRun,
            body=RequestBody(Cancellation, {"Cancellation": examples.CANCELLATION}),
        )
    )
    async def cancel_order(self, call: Call) -> Response:
        async def step(tx: Transaction, reference: str, body: Cancellation, now: datetime) -> None:
            await cancel_units(tx, reference, body, now)

        return await self._take(call, Cancellation, step, dry_run=call.query(DryRun).is_wanted)

    @endpoint(
        order_step(
            "addNote",
            "note",
            "Add a note, which the customer does not see",
            body=RequestBody(NoteRequest, {"Note": examples.NEW_NOTE}),
        )
    )
    async def add_note(self, call: Call) -> Response:
        async def step(tx: Transaction, reference: str, body: NoteRequest, now: datetime) -> None:
            await add_note(tx, reference, body.text, now)

        return await self._take(call, NoteRequest, step)

    @endpoint(
        Operation(
            method="POST",
            path="/api/order/{reference}/invoice",
            name="invoiceOrder",
            tag="Orders",
            summary="Issue the invoice of a dispatched order",
            description=(
                "The invoice is for all that is dispatched and not yet invoiced. Without `part`, nothing may be "
                "left to dispatch. A wholly invoiced order stays as it is."
            ),
            path_parameters=(REFERENCE,),
            request_headers=POST_HEADERS,
            body=RequestBody(Invoicing, {"Invoicing": examples.INVOICING}, required=False),
            success=Success(
                CREATED,
                "The order. The invoice is new; it is the last of `invoices`.",
                ResellerOrder,
                {"Order": examples.ORDER},
                headers=(LOCATION, IDEMPOTENT_REPLAY),
            ),
            unchanged=ORDER,
            errors=(NOT_FOUND, CONFLICT),
            scope="billing:write",
        )
    )
    async def invoice_order(self, call: Call) -> Response:
        issued: list[bool] = []

        async def step(tx: Transaction, reference: str, body: Invoicing, now: datetime) -> None:
            issued.append((await issue_invoice(tx, reference, self.letterhead, now, part=body.part)).new)

        return await self._take(
            call,
            Invoicing,
            step,
            status=lambda: CREATED if issued[-1] else 200,
            location=lambda order: f"/api/invoice/{order['invoices'][-1]}",
        )

    async def _take(
        self,
        call: Call,
        shape: type[Body],
        step: Callable[[Transaction, str, Body, datetime], Awaitable[None]],
        *,
        status: int | Callable[[], int] = 200,
        location: Address = "",
        dry_run: bool = False,
    ) -> Response:
        """Take a step with an order, and respond with the order."""
        reference = call.path_text("reference", "order")

        async def work(tx: Transaction, body: Body, now: datetime) -> ResellerOrder:
            await step(tx, reference, body, now)
            return await self.orders.one(tx, await any_order(tx, reference), now)

        return await self.desk.change(call, shape, work, status=status, location=location, dry_run=dry_run)
