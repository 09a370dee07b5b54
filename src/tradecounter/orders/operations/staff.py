"""`/api/order`: orders of all customers, and what happens to them."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from tradecounter.billing.issue_invoice import issue_invoice
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import ChangingParameters, Desk, Unchanged
from tradecounter.edge.operations.subject import InPath, Listed, Subject
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.letterhead.seller import Letterhead
from tradecounter.orders.add_note import add_note
from tradecounter.orders.cancel_order import cancel_order
from tradecounter.orders.operations.examples import DESCRIBED
from tradecounter.orders.operations.steps import add_tracking, order_filter
from tradecounter.orders.queries.all_orders import orders_after
from tradecounter.orders.requests import Cancellation, NoteRequest
from tradecounter.orders.reseller_wire import Invoicing, ResellerOrder, State, Tracking
from tradecounter.parts.present_order import OrderPresenter
from tradecounter.products.wire import Product
from tradecounter.shipments.add_video import add_video
from tradecounter.shipments.dispatch_order import dispatch_order
from tradecounter.shipments.requests import Dispatch, DispatchRequest
from tradecounter.shipments.wire import OrderVideoResponse

BY_WAREHOUSE = ("support", "warehouse", "administrator")
SELLERS = ("support", "finance", "administrator")  # only finance may override the credit

ORDERS = Subject(tag="Orders", read="orders:read", write="orders:write", described=DESCRIBED)
ALL_ORDERS, ONE_ORDER = "/api/order", "/api/order/{reference}"

OrderReference = Annotated[
    str, InPath("reference", "The order's reference, id or confirmation code.", "ORD-100001", "order")
]


class OrderListParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/order`. Orders must match all of them."""

    state: Annotated[State | None, Meta(description="Only orders in this state.")] = None
    status: Annotated[str | None, Meta(description="Only orders with this status, in any case.")] = None
    customer_id: Annotated[int, Meta(ge=1, description="Only this customer's orders.")] | None = None
    reference: Annotated[str | None, Meta(description="Only orders whose reference begins with this.")] = None
    customer_reference: Annotated[str | None, Meta(description="Only orders with this customer reference.")] = None
    external_id: Annotated[str | None, Meta(description="Only the order with this external id.")] = None
    sku: Annotated[str | None, Meta(description="Only orders with this product.")] = None
    created_from: Annotated[
        str | None, Meta(description="Only orders placed at this time or later; a date is when that UK day begins.")
    ] = None
    created_to: Annotated[
        str | None, Meta(description="Only orders placed before this time; a date includes the whole UK day.")
    ] = None


class OrderOperations(Struct, frozen=True):
    """The endpoints of orders; with `invoice_each_dispatch`, the worker invoices each shipment."""

    desk: Desk
    orders: OrderPresenter
    letterhead: Letterhead
    invoice_each_dispatch: bool

    @ORDERS.lists(ALL_ORDERS, "The orders.", errors=(NOT_FOUND,))
    async def list_orders(self, tx: Transaction, now: datetime, query: OrderListParameters) -> Listed[ResellerOrder]:
        """Orders of all customers.

        Quotes are orders too; unconfirmed ones are in state `pending`.
        """
        wanted = await order_filter(tx, query, query.customer_id, query.state, external_id=query.external_id)
        wanted = replace(wanted, changed_since=query.since)
        found = await orders_after(tx, wanted, query.after, query.limit + 1)
        return Listed(found, await self.orders.many(tx, found[: query.limit], now))

    @ORDERS.shows(ONE_ORDER, referenced=(Product,))
    async def get_order(self, tx: Transaction, now: datetime, reference: OrderReference) -> ResellerOrder:
        """One order."""
        return await self.orders.named(tx, reference, now)

    @ORDERS.changes("POST", f"{ONE_ORDER}/dispatch", roles=BY_WAREHOUSE)
    async def dispatch_order(
        self, tx: Transaction, now: datetime, reference: OrderReference, body: Dispatch
    ) -> ResellerOrder:
        """Dispatch all or a part as one shipment."""
        request = DispatchRequest.of(body, invoice=self.invoice_each_dispatch)
        await dispatch_order(tx, reference, request, now)
        return await self.orders.named(tx, reference, now)

    @ORDERS.changes("POST", f"{ONE_ORDER}/tracking", roles=BY_WAREHOUSE)
    async def track_order(
        self, tx: Transaction, now: datetime, reference: OrderReference, body: Tracking
    ) -> ResellerOrder:
        """Add a tracking event to a shipment."""
        await add_tracking(tx, reference, body, now)
        return await self.orders.named(tx, reference, now)

    @ORDERS.changes("POST", f"{ONE_ORDER}/video", roles=BY_WAREHOUSE)
    async def set_video(
        self, tx: Transaction, now: datetime, reference: OrderReference, body: OrderVideoResponse
    ) -> ResellerOrder:
        """Set the addresses of the packing video."""
        await add_video(tx, reference, body, now)
        return await self.orders.named(tx, reference, now)

    @ORDERS.changes("POST", f"{ONE_ORDER}/cancel", dry_run=True)
    async def cancel_order(
        self, tx: Transaction, now: datetime, reference: OrderReference, body: Cancellation
    ) -> ResellerOrder:
        """Cancel an order or a quote, or units that are not dispatched.

        Its stock and credit are released, and the customer gets an e-mail.
        """
        await cancel_order(tx, reference, body, now)
        return await self.orders.named(tx, reference, now)

    @ORDERS.changes("POST", f"{ONE_ORDER}/note")
    async def add_note(
        self, tx: Transaction, now: datetime, reference: OrderReference, body: NoteRequest
    ) -> ResellerOrder:
        """Add a note, which the customer does not see."""
        await add_note(tx, reference, body.text, now)
        return await self.orders.named(tx, reference, now)

    @ORDERS.changes(
        "POST",
        f"{ONE_ORDER}/invoice",
        "The order. The invoice is new; it is the last of `invoices`.",
        location=lambda order: f"/api/invoice/{order['invoices'][-1]}",
        scope="billing:write",
    )
    async def invoice_order(
        self, tx: Transaction, now: datetime, reference: OrderReference, body: Invoicing
    ) -> ResellerOrder | Unchanged[ResellerOrder]:
        """Issue the invoice of a dispatched order.

        The invoice is for all that is dispatched and not yet invoiced. Without `part`, nothing may be left to dispatch.
        A wholly invoiced order stays as it is.
        """
        issued = await issue_invoice(tx, reference, self.letterhead, now, part=body.part)
        order = await self.orders.named(tx, reference, now)
        return order if issued.new else Unchanged(order)
