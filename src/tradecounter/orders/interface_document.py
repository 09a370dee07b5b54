"""What the interface document says of orders and quotes: the schema of one order, error responses and examples."""

from decimal import Decimal
from types import GenericAlias
from typing import Annotated, Any, Union

import msgspec
from msgspec import NODEFAULT, UNSET, Raw, Struct, UnsetType, defstruct
from msgspec.structs import fields

from tradecounter.customers.wire import ADDRESS_DETAILS, CUSTOMER_ADDRESS, CustomerAddress
from tradecounter.edge.rest.headers import RETRY_AFTER
from tradecounter.edge.rest.operation import ErrorResponse
from tradecounter.kit.errors import Code
from tradecounter.kit.json_text import to_json
from tradecounter.kit.wire import made_from
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


def _joined(first: type[Struct], second: type[Struct], description: str, **types: Any) -> type[Struct]:
    """Return a type with the name of the first and the fields of both; fields of only one of them are optional.

    It is made from the two, so that a field and its description stand only there.

    `types` replace the types of fields, which keep their descriptions; None leaves a field out.
    """
    ours, theirs = ({field.name: field for field in fields(kind)} for kind in (first, second))
    members: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for name in dict.fromkeys([*ours, *theirs]):
        always = all(name in each and each[name].default is NODEFAULT for each in (ours, theirs))
        kind = (ours.get(name) or theirs[name]).type
        if name in types:
            kind = types[name] and Annotated[(types[name], *kind.__metadata__)]
        if kind is not None:
            members.append((name, kind) if always else (name, Union[kind, UnsetType], UNSET))  # noqa: UP007
    return defstruct(first.__name__, members, module=__name__, namespace={"__doc__": description}, kw_only=True)


FoundOrderItem = _joined(
    OrderItem,
    CreatedOrderItem,
    "A line of an order, with the current data of the product. A line of a pending order has only the product's `sku`.",
    related_items=GenericAlias(list, ("FoundOrderItem",)),
)
# One type and no choice of two, so that clients generated from the document have one type for an order.
FoundOrder = _joined(
    Order,
    PendingOrderReadBack,
    "A confirmed order; or a pending one, with the fields of its creation.",
    items=GenericAlias(list, (FoundOrderItem,)),
    order_id=None,
    auto_confirm=None,
)
FOUND_ORDERS = GenericAlias(list, (FoundOrder,))


PAYMENT_REQUIRED = ErrorResponse(
    402,
    "The account has no credit terms, or not enough available credit.",
    "the order of £557.88 including tax and shipping exceeds the available credit of £100.00",
    name="PaymentRequired",
)
CONFLICT = ErrorResponse(
    409,
    "One of: an earlier request with the same `Idempotency-Key` is still being processed (wait, then repeat it); the "
    "account requires unique customer references, and the reference is already used; the account has as many pending "
    "orders or unpriced quotes as allowed (the message names the limit); the account is blocked; the items cost more "
    "than `max_unit_cost` or `max_cost_gross` allows (each of `errors` has today's `unit_cost`); not all is in stock, "
    "and `allow_back_orders` is false (the message names what is there).",
    "customer_reference: 'PO-1001' is already used by ORD-100042",
    (RETRY_AFTER,),
    "Conflict",
    code=Code.DUPLICATE_REFERENCE,
)
BLOCKED = ErrorResponse(
    409,
    "The account is blocked; or the items cost more than `max_cost_gross` allows; or the order must not wait for "
    "stock, and not all is there.",
    "the account is blocked, so it cannot order",
    code=Code.ACCOUNT_BLOCKED,
)
UNKNOWN_CODE = ErrorResponse(
    404,
    "No pending order or quote of yours has this `confirmation_code`.",
    "no pending order or quote has the confirmation_code 0f8a3c5e7b9d1f2a4c6e8b0d2f4a6c8e",
)
EXPIRED = ErrorResponse(
    410,
    "The pending order or quote has expired, or was cancelled or declined.",
    "the pending order has expired: create it again",
)
_NO_SHIPPING_METHOD = (
    "shipping_method: is required, since the account has no default among the shipping options: "
    "101 (Northway Parcels, UK mainland economy), 102 (Northway Parcels, UK mainland next working day)"
)
NO_SHIPPING_METHOD = ErrorResponse(
    412,
    "With `auto_confirm`: the request names no shipping method, and none of the options is the account's default.",
    _NO_SHIPPING_METHOD,
    code=Code.SHIPPING_METHOD_REQUIRED,
)
NOT_CONFIRMABLE = ErrorResponse(
    412,
    "The request names no shipping method, and none of the options is the account's default; or the quote is not "
    "priced yet.",
    _NO_SHIPPING_METHOD,
    code=Code.SHIPPING_METHOD_REQUIRED,
)


UNIT = ProductSerialNumber(mac_address="00:00:5E:00:53:01", serial_number="A1B2C3", provisioning_sku="CV-320P")
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
READ_BACK_ORDER = made_from(PENDING_ORDER, PendingOrderReadBack, status="Pending", expires_on="2026-06-17T09:00:00")
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
            serial_numbers=[UNIT],
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
            items=[ShippedUnits(90017, 6, [UNIT])],
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
