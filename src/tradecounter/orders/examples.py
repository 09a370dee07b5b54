"""Examples of orders, for the interface document."""

from decimal import Decimal

import msgspec
from msgspec import UNSET, Raw

from tradecounter.customers.wire import ADDRESS_DETAILS, CUSTOMER_ADDRESS, CustomerAddress
from tradecounter.kit.json_text import to_json
from tradecounter.orders.present import CSV_HEADER, csv_order
from tradecounter.orders.wire import (
    ConfirmOrderRequest,
    CreatedOrder,
    CreatedOrderItem,
    CreateOrderItem,
    CreateOrderRequest,
    CreateOrderShipping,
    CsvOrderItem,
    NotificationDetails,
    Order,
    OrderItem,
    OrderShipping,
    PendingOrderReadBack,
    ProductSerialNumber,
    ShippedUnits,
    ShippingChoice,
    TrackingEvent,
)
from tradecounter.products.wire import PRODUCT

_UNIT = ProductSerialNumber(mac_address="00:00:5E:00:53:01", serial_number="A1B2C3", provisioning_sku="CV-320P")
_SAVED = Raw(b'{"id":5001}')
_IN_FULL = Raw(to_json(ADDRESS_DETAILS))
_NEXT_DAY = CreateOrderShipping(
    id=101,
    provider="Fastvan",
    description="Next working day",
    cost_net=Decimal("9.50"),
    expected_dispatch_date="2026-06-16T17:30:00",
    expected_arrival_date="2026-06-17T17:30:00",
    total_gross=Decimal("557.88"),
)
PENDING_ORDER = CreatedOrder(
    customer_reference="PO-1001",
    items=[CreatedOrderItem(id=90017, sku="CV-320P", quantity=6, cost_net=Decimal("455.40"))],
    billing_address=CUSTOMER_ADDRESS,
    shipping_address=CustomerAddress(**msgspec.structs.asdict(ADDRESS_DETAILS)),
    shipping_region=1,
    courier_notifications=NotificationDetails(email_address="sam@harbourline.example"),
    confirmation_code="5417fc98db0f9cf4c67baceff5629b04",
    shipping_options=[_NEXT_DAY],
    shipping_weight=Decimal("6.6"),
    cost_net=Decimal("455.40"),
    cost_tax=Decimal("91.08"),
    cost_gross=Decimal("546.48"),
)
CONFIRMED_ORDER = msgspec.structs.replace(
    PENDING_ORDER, shipping_method=_NEXT_DAY, order_id=42, order_reference="ORD-100042"
)
READ_BACK_ORDER = PendingOrderReadBack(
    **msgspec.structs.asdict(PENDING_ORDER), status="Pending", expires_on="2026-06-17T09:00:00"
)
ORDER_REQUEST = CreateOrderRequest(
    customer_reference="PO-1001",
    items=[CreateOrderItem(sku="CV-320P", quantity=6)],
    billing_address=_SAVED,
    shipping_address=_IN_FULL,
    courier_notifications=NotificationDetails(email_address="sam@harbourline.example"),
)
ORDER = Order(
    id=42,
    order_reference="ORD-100042",
    customer_reference="PO-1001",
    cost_net=Decimal("455.40"),
    cost_tax=Decimal("91.08"),
    cost_gross=Decimal("546.48"),
    created_on="2026-06-16T09:12:44",
    status="Dispatched",
    items=[
        OrderItem(
            id=90017,
            product=Raw(to_json(PRODUCT)),
            quantity=6,
            cost_net=Decimal("455.40"),
            cost_tax=Decimal("91.08"),
            related_items=[],
            configurations=[],
            serial_numbers=[_UNIT],
            quantity_dispatched=6,
            quantity_cancelled=0,
        )
    ],
    shipping=[
        OrderShipping(
            method_id=101,
            contact_email="sam@harbourline.example",
            tracking_number="FV123456789",
            cost_net=Decimal("9.50"),
            cost_tax=Decimal("1.90"),
            last_tracking_status="Delivered",
            shipment_id=7,
            carrier="Fastvan",
            tracking_url="https://track.fastvan.example/?parcel=FV123456789",
            dispatched_on="2026-06-16T16:40:00",
            items=[ShippedUnits(90017, 6, [_UNIT])],
            tracking_events=[
                TrackingEvent(
                    date="2026-06-17T10:04:00", type="Delivered", description="Left with reception", locality="Leeds"
                )
            ],
        )
    ],
    shipping_address=CustomerAddress(**msgspec.structs.asdict(ADDRESS_DETAILS)),
    changed_on="2026-06-17T10:05:12",
)
CSV_ITEM = CsvOrderItem(id=90017, sku="CV-320P", quantity=6, cost_net=Decimal("455.40"), cost_tax=Decimal("91.08"))
_IN_CSV = msgspec.structs.replace(ORDER, shipping=[msgspec.structs.replace(ORDER.shipping[0], items=UNSET)])
ORDERS_CSV = (CSV_HEADER + csv_order(_IN_CSV, [CSV_ITEM])).decode()
AUTO_CONFIRMED_REQUEST = msgspec.structs.replace(
    ORDER_REQUEST, auto_confirm=True, shipping_method=ShippingChoice(101), shipping_address=_SAVED
)
AUTO_CONFIRMED_ORDER = msgspec.structs.replace(CONFIRMED_ORDER, auto_confirm=True)
CONFIRMATION = ConfirmOrderRequest(ShippingChoice(101))
_LINKED_ADDRESS = {
    "contact_name": "Sam Fitter",
    "street_one": "1 Site Road",
    "city": "Leeds",
    "zip": "LS1 4AP",
    "country_code": "GB",
}
LINKED_ORDER_REQUEST = {
    "customer_reference": "PO-1001",
    "items": [{"sku": "$response.body#/0/sku", "quantity": 1}],
    "billing_address": _LINKED_ADDRESS,
    "shipping_address": _LINKED_ADDRESS,
}
