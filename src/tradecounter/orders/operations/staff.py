"""`/api/order`: orders of all customers, and what happens to them; support also creates, confirms and amends orders."""

from collections.abc import Mapping
from contextlib import nullcontext
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated

from msgspec import UNSET, Struct, structs
from msgspec.structs import replace

from tradecounter.billing.invoices import issue_invoice
from tradecounter.customers.wire import CUSTOMER_ADDRESS, AddressDetails
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Desk, Unchanged
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import Described, ListPage, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import CONFLICT, NOT_FOUND, PRECONDITION_FAILED
from tradecounter.edge.session import require_token_scope
from tradecounter.kit.json_text import decode_json
from tradecounter.kit.wire import made_from
from tradecounter.letterhead.seller import Letterhead
from tradecounter.orders.amend_order import amend_order
from tradecounter.orders.cancel_order import cancel_order
from tradecounter.orders.confirm_order import confirm_for_customer
from tradecounter.orders.create.check_request import read_request
from tradecounter.orders.create.place_order import create_for_customer
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.history import add_note, set_external_id
from tradecounter.orders.interface_document import EXPIRED, ORDER, ORDER_REQUEST, PAYMENT_REQUIRED, UNIT
from tradecounter.orders.lines import NamedUnits
from tradecounter.orders.operations.all_orders import AllOrdersParameters, all_orders_filter
from tradecounter.orders.order_context import OrderContexts
from tradecounter.orders.queries.all_orders import orders_after
from tradecounter.orders.reseller_wire import (
    AmendedItem,
    Amendment,
    Cancellation,
    Confirmation,
    Happening,
    Invoicing,
    NoteRequest,
    OrderRequest,
    OverrideCredit,
    ResellerOrder,
    ResellerOrderItem,
    ResellerShipping,
    ResellerTrackingEvent,
    Shipment,
    ShippedItem,
    TakingBack,
    Tracking,
)
from tradecounter.orders.wire import OrderAddressDetails, ShippingChoice
from tradecounter.parts.present_order import OrderPresenter
from tradecounter.products.wire import Product
from tradecounter.shipments.dispatch import ShipmentCorrection, dispatch_order
from tradecounter.shipments.fulfilment import add_video, track_shipment
from tradecounter.shipments.wire import Dispatch, DispatchedItem, OrderVideoResponse, SerialNumber

_AT = datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC)
_ORDER = ResellerOrder(
    id=4,
    customer_id=1001,
    state="confirmed",
    status="Dispatched",
    order_reference="ORD-100042",
    confirmation_code="5417fc98db0f9cf4c67baceff5629b04",
    customer_reference="PO-1001",
    created_on=_AT,
    cost_net=Decimal("455.40"),
    cost_tax=Decimal("91.08"),
    cost_gross=Decimal("546.48"),
    billing_address=CUSTOMER_ADDRESS,
    shipping_address=CUSTOMER_ADDRESS,
    items=[
        made_from(
            ORDER.items[0],
            ResellerOrderItem,
            quantity_allocated=0,
            quantity_back_ordered=0,
            quantity_invoiced=0,
            quantity_to_invoice=6,
            quantity_returned=0,
            unit_cost=Decimal("75.90"),
        )
    ],
    shipping=[
        ResellerShipping(
            101,
            Decimal("12.75"),
            Decimal("2.55"),
            [ResellerTrackingEvent(_AT, "Collected", "Collected from the warehouse", "Leeds")],
            tracking_number="FV123456789",
            last_tracking_status="Collected",
        )
    ],
    shipments=[Shipment(31, _AT, "Northway Parcels", "FV123456789", [ShippedItem(90017, 6, [UNIT])], None)],
    invoices=[],
    credit_notes=[],
    returns=[],
    notes=[],
    history=[Happening(_AT, "Warehouse", "order.dispatch")],
)
_DISPATCH = Dispatch(
    items=[DispatchedItem(90017, 6, [SerialNumber("A1B2C3", "00:00:5E:00:53:01", "CV-320P")])],
    tracking_number="FV123456789",
)
ORDERS_DESCRIBED: Mapping[type, Described] = {
    ResellerOrder: Described("The order.", _ORDER, "Order"),
    OrderRequest: Described("", OrderRequest(**structs.asdict(ORDER_REQUEST), customer_id=1001)),
    Confirmation: Described("", Confirmation(ShippingChoice(101))),
    Amendment: Described("", Amendment(items=[AmendedItem(id=90017, quantity=8)], reason="As agreed by phone")),
    Dispatch: Described("", _DISPATCH),
    Tracking: Described("", Tracking("Delivered", "Left with reception", locality="Leeds", date=_AT)),
    ShipmentCorrection: Described("", ShipmentCorrection(tracking_number="FV123456798"), "Correction"),
    TakingBack: Described("", TakingBack("The courier did not collect it.")),
    OrderVideoResponse: Described(
        "", OrderVideoResponse("https://videos.example/4.mp4", "https://videos.example/4.m3u8"), "Video"
    ),
    Cancellation: Described("", Cancellation("The customer ordered twice.", [NamedUnits(90017, 2)])),
    NoteRequest: Described("", NoteRequest("The customer collects on Friday."), "Note"),
    Invoicing: Described("", Invoicing(part=True)),
}
BY_WAREHOUSE = ("support", "warehouse", "administrator")
SELLERS = ("support", "finance", "administrator")  # only finance may override the credit
ORDERS = Subject(tag="Orders", read="orders:read", write="orders:write", described=ORDERS_DESCRIBED)
ALL_ORDERS, ONE_ORDER = "/api/order", "/api/order/{reference}"

OrderReference = Annotated[
    str, InPath("reference", "The order's reference, id or confirmation code.", "ORD-100001", "order")
]


CONFIRM_ERRORS = (PAYMENT_REQUIRED, EXPIRED, PRECONDITION_FAILED)
_ADDRESSES = (OrderAddressDetails, AddressDetails)


def check_override(call: Call, override: OverrideCredit | None) -> None:
    """Check that a program may override the credit. Raises DomainError (forbidden)."""
    if override is not None:
        require_token_scope(call.request, "billing:write")


async def _check_order(group: "OrderOperations", tx: Transaction, raw: bytes, now: datetime) -> None:
    """Check the order in a body where some field has the wrong type. Raises DomainError (invalid)."""
    body = decode_json(raw)
    customer_id = body.get("customer_id") if isinstance(body, dict) else None
    if type(customer_id) is int and 0 < customer_id < 2**63:
        await read_request(raw, group.contexts.of(customer_id, now), lambda: nullcontext(tx))


class OrderOperations(Struct, frozen=True):
    """The endpoints of orders; with `invoice_each_dispatch`, the worker invoices each shipment."""

    desk: Desk
    orders: OrderPresenter
    contexts: OrderContexts
    letterhead: Letterhead
    invoice_each_dispatch: bool

    @ORDERS.lists(ALL_ORDERS, "The orders.")
    async def list_orders(self, tx: Transaction, now: datetime, query: AllOrdersParameters) -> ListPage[ResellerOrder]:
        """Orders of all customers.

        Quotes are orders too; unconfirmed ones are in state `pending`.
        """
        wanted = await all_orders_filter(tx, query, query.customer_id, query.state, external_id=query.external_id)
        wanted = replace(wanted, changed_since=query.since)
        orders = await orders_after(tx, wanted, query.after, query.limit + 1)
        return ListPage(orders, await self.orders.many(tx, orders[: query.limit], now))

    @ORDERS.shows(ONE_ORDER, referenced=(Product,))
    async def get_order(self, tx: Transaction, now: datetime, reference: OrderReference) -> ResellerOrder:
        """One order."""
        return await self.orders.named(tx, reference, now)

    @ORDERS.changes("POST", f"{ONE_ORDER}/dispatch", roles=BY_WAREHOUSE)
    async def dispatch_order(
        self, tx: Transaction, now: datetime, reference: OrderReference, body: Dispatch
    ) -> ResellerOrder:
        """Dispatch all or a part as one shipment."""
        await dispatch_order(tx, reference, body, now, invoice=self.invoice_each_dispatch)
        return await self.orders.named(tx, reference, now)

    @ORDERS.changes("POST", f"{ONE_ORDER}/tracking", roles=BY_WAREHOUSE)
    async def track_order(
        self, tx: Transaction, now: datetime, reference: OrderReference, body: Tracking
    ) -> ResellerOrder:
        """Add a tracking event to a shipment."""
        await track_shipment(tx, reference, body, now)
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

    @ORDERS.changes(
        "POST",
        ALL_ORDERS,
        location="{id}",
        check=_check_order,
        errors=(PAYMENT_REQUIRED, NOT_FOUND, PRECONDITION_FAILED),
        referenced=_ADDRESSES,
        roles=SELLERS,
    )
    async def create_order(self, tx: Transaction, now: datetime, call: Call, body: OrderRequest) -> ResellerOrder:
        """Create an order for a customer.

        At the customer's prices and terms, with the checks of the customers' API. `override_credit` needs the scope
        `billing:write` too.
        """
        check_override(call, body.override_credit)
        reason = None if body.override_credit is None else body.override_credit.reason
        context = self.contexts.of(body.customer_id, now)
        order = await create_for_customer(tx, body, context, override_credit=reason)
        if body.external_id is not None:
            await set_external_id(tx, str(order.id), body.external_id, now)
        return await self.orders.one(tx, order, now)

    @ORDERS.changes("POST", f"{ONE_ORDER}/confirm", errors=CONFIRM_ERRORS, roles=SELLERS)
    async def confirm_order(
        self, tx: Transaction, now: datetime, call: Call, reference: OrderReference, body: Confirmation
    ) -> ResellerOrder:
        """Confirm a pending order for its customer.

        A confirmed order stays as it is. `override_credit` needs the scope `billing:write` too.
        """
        check_override(call, body.override_credit)
        order = await fetch_order(tx, reference)
        return await self.orders.one(tx, await confirm_for_customer(tx, order, body, self.contexts.policy, now), now)

    @ORDERS.changes(
        "PATCH",
        ONE_ORDER,
        dry_run=True,
        errors=(PAYMENT_REQUIRED, CONFLICT),
        referenced=_ADDRESSES,
        roles=SELLERS,
    )
    async def amend_order(
        self, tx: Transaction, now: datetime, call: Call, reference: OrderReference, body: Amendment
    ) -> ResellerOrder:
        """Amend a confirmed order before its dispatch.

        Stock, credit and totals follow, and the customer gets an e-mail. Lines that are not named stay. `external_id`
        alone changes an order in any state, without an e-mail.
        `override_credit` needs the scope `billing:write` too.
        """
        check_override(call, body.override_credit)
        order = await fetch_order(tx, reference)
        if body.external_id is UNSET or not body.changes_nothing:
            order, _ = await amend_order(tx, reference, body, self.contexts.of(order.customer_id, now))
        if body.external_id is not UNSET:  # only now: orders are locked after the lock on serving
            await set_external_id(tx, reference, body.external_id, now)
        return await self.orders.one(tx, order, now)
