"""Examples of orders and shipments for the back office's interface document."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal

from msgspec import structs

from tradecounter.customers.wire import CUSTOMER_ADDRESS
from tradecounter.edge.operations.subject import Described
from tradecounter.orders import examples as ordering
from tradecounter.orders import requests as asked
from tradecounter.orders import reseller_wire as orders
from tradecounter.orders.reseller_wire import AmendedItem
from tradecounter.orders.units import NamedUnits
from tradecounter.orders.wire import ProductSerialNumber, ShippingChoice
from tradecounter.shipments import requests as shipments
from tradecounter.shipments.correct_shipment import ShipmentCorrection
from tradecounter.shipments.wire import OrderVideoResponse

_AT = datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC)
_NUMBER = ProductSerialNumber(mac_address="00:00:5E:00:53:01", serial_number="A1B2C3", provisioning_sku="CV-320P")

_ORDER = orders.ResellerOrder(
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
        orders.ResellerOrderItem(
            **structs.asdict(ordering.ORDER.items[0]),
            quantity_allocated=0,
            quantity_back_ordered=0,
            quantity_invoiced=0,
            quantity_to_invoice=6,
            quantity_returned=0,
            unit_cost=Decimal("75.90"),
        )
    ],
    shipping=[
        orders.ResellerShipping(
            101,
            Decimal("12.75"),
            Decimal("2.55"),
            [orders.ResellerTrackingEvent(_AT, "Collected", "Collected from the warehouse", "Leeds")],
            tracking_number="FV123456789",
            last_tracking_status="Collected",
        )
    ],
    shipments=[
        orders.Shipment(31, _AT, "Northway Parcels", "FV123456789", [orders.ShippedItem(90017, 6, [_NUMBER])], None)
    ],
    invoices=[],
    credit_notes=[],
    returns=[],
    notes=[],
    history=[orders.Happening(_AT, "Warehouse", "order.dispatch")],
)

_DISPATCH = shipments.Dispatch(
    items=[shipments.DispatchedItem(90017, 6, [shipments.SerialNumber("A1B2C3", "00:00:5E:00:53:01", "CV-320P")])],
    tracking_number="FV123456789",
)


DESCRIBED: Mapping[type, Described] = {
    orders.ResellerOrder: Described("The order.", _ORDER, "Order"),
    orders.OrderRequest: Described("", orders.OrderRequest(**structs.asdict(ordering.ORDER_REQUEST), customer_id=1001)),
    orders.Confirmation: Described("", orders.Confirmation(ShippingChoice(101))),
    orders.Amendment: Described(
        "", orders.Amendment(items=[AmendedItem(id=90017, quantity=8)], reason="As agreed by phone")
    ),
    shipments.Dispatch: Described("", _DISPATCH),
    orders.Tracking: Described("", orders.Tracking("Delivered", "Left with reception", locality="Leeds", date=_AT)),
    ShipmentCorrection: Described("", ShipmentCorrection(tracking_number="FV123456798"), "Correction"),
    orders.TakingBack: Described("", orders.TakingBack("The courier did not collect it.")),
    OrderVideoResponse: Described(
        "", OrderVideoResponse("https://videos.example/4.mp4", "https://videos.example/4.m3u8"), "Video"
    ),
    asked.Cancellation: Described("", asked.Cancellation("The customer ordered twice.", [NamedUnits(90017, 2)])),
    asked.NoteRequest: Described("", asked.NoteRequest("The customer collects on Friday."), "Note"),
    orders.Invoicing: Described("", orders.Invoicing(part=True)),
}
