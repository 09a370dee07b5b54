"""The interface document's examples: values of the very types that are decoded and encoded, so that they fit them.

Every type of a body or an answer has one; `tests/contract/test_examples.py` holds us to it.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, get_args

import msgspec
from msgspec import Raw

from tradecounter.billing.wire import CreditOrderStatus, CreditOverview
from tradecounter.catalogue.wire import (
    Attribute,
    AttributeValue,
    Category,
    Manufacturer,
    Product,
    ProductAvailability,
    ProductImage,
    ProductIncomingStock,
)
from tradecounter.customers.wire import (
    AddressDetails,
    Customer,
    CustomerAddress,
    CustomerCreditTerms,
    SavedAddress,
)
from tradecounter.fulfilment.wire import AddConfigurationsRequest, NewConfiguration, OrderVideoResponse
from tradecounter.identity.http import AccessToken, OAuthError
from tradecounter.identity.token_request import ACCESS_TOKEN, GRANT_TYPE, TokenRequest
from tradecounter.ordering.present import CSV_HEADER, csv_order
from tradecounter.ordering.wire import (
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
    ProductSerialNumber,
    Quote,
    ShippingChoice,
    TrackingEvent,
)
from tradecounter.rest.operation import Operation, Otherwise
from tradecounter.rest.responses import to_json
from tradecounter.web.health import Health, Readiness
from tradecounter.web.index import Documentation, Index

_PRODUCT = Product(
    sku="CV-320P",
    ean="2155682100321",
    name="Corvane 320P IP phone",
    manufacturer="corvane",
    weight_kg=Decimal("1.1"),
    box_width_mm=Decimal(230),
    box_height_mm=Decimal(90),
    box_length_mm=Decimal(250),
    clearance_product=False,
    images=[ProductImage(is_primary=True, url="https://images.example/corvane/320p-front.jpg")],
    availability=ProductAvailability(
        available=42,
        status="In stock",
        incoming=[ProductIncomingStock(incoming=100, expected_on="2026-07-01T09:00:00")],
    ),
    single_unit_cost=Decimal("79.90"),
    five_plus_unit_cost=Decimal("75.90"),
    ten_plus_unit_cost=Decimal("71.90"),
    consumer_unit_cost=Decimal("99.95"),
    store_url="https://shop.example/p/corvane-320p",
    categories=["ip-phones", "desk-phones"],
    attributes={"Ethernet ports": "2", "Powered by PoE": "true"},
)
_DESCRIBED = msgspec.structs.replace(
    _PRODUCT,
    description="A desk phone with two gigabit ports and a colour display.",
    short_description="Gigabit desk phone with a colour display.",
)
_DETAILS = AddressDetails(
    contact_name="Sam Fitter",
    company_name="Harbourline Communications",
    street_one="1 Site Road",
    city="Leeds",
    state="West Yorkshire",
    zip="LS1 4AP",
    country_code="GB",
    contact_number="0113 496 0000",
)
_ADDRESS = CustomerAddress(**msgspec.structs.asdict(_DETAILS), id=5001)
_SAVED = Raw(b'{"id":5001}')
_IN_FULL = Raw(to_json(_DETAILS))
_NEXT_DAY = CreateOrderShipping(
    id=101,
    provider="Fastvan",
    description="Next working day",
    cost_net=Decimal("9.50"),
    expected_dispatch_date="2026-06-16T17:30:00",
    expected_arrival_date="2026-06-17T17:30:00",
)
_PENDING = CreatedOrder(
    customer_reference="PO-1001",
    items=[CreatedOrderItem(id=90017, sku="CV-320P", quantity=6, cost_net=Decimal("455.40"))],
    billing_address=_ADDRESS,
    shipping_address=CustomerAddress(**msgspec.structs.asdict(_DETAILS)),
    shipping_region=1,
    courier_notifications=NotificationDetails(email_address="sam@harbourline.example"),
    confirmation_code="5417fc98db0f9cf4c67baceff5629b04",
    shipping_options=[_NEXT_DAY],
    shipping_weight=Decimal("6.6"),
    cost_net=Decimal("455.40"),
    cost_tax=Decimal("91.08"),
    cost_gross=Decimal("546.48"),
)
_CONFIRMED = msgspec.structs.replace(_PENDING, shipping_method=_NEXT_DAY, order_id=100042, order_reference="ORD-100042")
_REQUEST = CreateOrderRequest(
    customer_reference="PO-1001",
    items=[CreateOrderItem(sku="CV-320P", quantity=6)],
    billing_address=_SAVED,
    shipping_address=_IN_FULL,
    courier_notifications=NotificationDetails(email_address="sam@harbourline.example"),
)
_ORDER = Order(
    id=100042,
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
            product=Raw(to_json(_PRODUCT)),
            quantity=6,
            cost_net=Decimal("455.40"),
            cost_tax=Decimal("91.08"),
            related_items=[],
            configurations=[],
            serial_numbers=[
                ProductSerialNumber(mac_address="00:00:5E:00:53:01", serial_number="A1B2C3", provisioning_sku="CV-320P")
            ],
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
            tracking_events=[
                TrackingEvent(
                    date="2026-06-17T10:04:00", type="Delivered", description="Left with reception", locality="Leeds"
                )
            ],
        )
    ],
    shipping_address=CustomerAddress(**msgspec.structs.asdict(_DETAILS)),
)
_CSV_ITEM = CsvOrderItem(id=90017, sku="CV-320P", quantity=6, cost_net=Decimal("455.40"), cost_tax=Decimal("91.08"))
_CREDIT = CreditOverview(
    credit_limit=Decimal("5000.00"),
    total_outstanding=Decimal("557.88"),
    available_credit=Decimal("4442.12"),
    outstanding_orders=[
        CreditOrderStatus(
            total_cost=Decimal("557.88"),
            total_paid=Decimal("0.00"),
            total_due=Decimal("557.88"),
            created_on="2026-06-16T09:12:44",
            due_on="2026-07-16T23:59:59",
            is_overdue=False,
            customer_reference="PO-1001",
            order_reference="ORD-100042",
        )
    ],
)

_BY_TYPE: dict[type, Any] = {
    type(example): example
    for example in (
        _PRODUCT,
        Category("phones", "Phones", [Category("desk-phones", "Desk phones", None)]),
        Manufacturer("corvane", "Corvane"),
        Attribute("poe", "PoE", "boolean", [AttributeValue("false"), AttributeValue("true")]),
        _DETAILS,
        _ADDRESS,
        SavedAddress(**msgspec.structs.asdict(_DETAILS), id=5001),
        _REQUEST,
        ConfirmOrderRequest(ShippingChoice(101)),
        _PENDING,
        _ORDER,
        _ORDER.items[0],
        _CREDIT,
        Customer(
            first_name="Ada",
            last_name="Buyer",
            email_address="buyer@harbourline.example",
            trade_account=True,
            credit_terms=CustomerCreditTerms(Decimal("5000.00"), 30),
            accounts_email="accounts@harbourline.example",
        ),
        Index(
            "Tradecounter",
            Documentation(
                "https://api.example/openapi.json",
                "https://api.example/openapi.yaml",
                "https://api.example/docs",
                "https://api.example/guide",
            ),
        ),
        Health("ok", "ok", 1),
        Readiness(ready=True, reasons=[], warnings=[]),
        AddConfigurationsRequest(
            [NewConfiguration("line1@isp.example", "correct-horse", wifi_ssid="Office", wifi_password="battery-staple")]
        ),
        Quote(
            **{**msgspec.structs.asdict(_PENDING), "shipping_method": None},
            status="Priced",
            expires_on="2026-03-09T17:30:00",
        ),
        OrderVideoResponse("https://video.example/100042.mp4", "https://video.example/100042/index.m3u8"),
        TokenRequest(
            grant_type=GRANT_TYPE,
            subject_token="eyJhbGciOiJFUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiIxMDAxIn0.c2lnbmF0dXJl",
            subject_token_type="urn:ietf:params:oauth:token-type:jwt",
        ),
        AccessToken("0f" * 32, ACCESS_TOKEN, "Bearer", 3600),
    )
}

_BODIES: dict[str, dict[str, Any]] = {
    "createOrder": {
        "An order to be confirmed": _REQUEST,
        "Confirmed at once": msgspec.structs.replace(
            _REQUEST, auto_confirm=True, shipping_method=ShippingChoice(101), shipping_address=_SAVED
        ),
    },
    "createQuote": {"A quote to be priced": _REQUEST},
    "confirmOrder": {
        "With a shipping option": ConfirmOrderRequest(ShippingChoice(101)),
        "With the account's default": ConfirmOrderRequest(),
    },
}
_ANSWERS: dict[str, dict[str, Any]] = {
    "getProduct": {"A product": _DESCRIBED},
    "createOrder": {"Pending": _PENDING, "Confirmed at once": msgspec.structs.replace(_CONFIRMED, auto_confirm=True)},
    "confirmOrder": {"Confirmed": _CONFIRMED},
}
_CSV: dict[str, str] = {
    "listProducts": (
        "sku,ean,name,manufacturer,weight_kg,box_width_mm,box_height_mm,box_length_mm,clearance_product,images,"
        "availability.available,availability.status,availability.incoming,single_unit_cost,five_plus_unit_cost,"
        "ten_plus_unit_cost,consumer_unit_cost,store_url,categories,attributes\r\n"
        "CV-320P,2155682100321,Corvane 320P IP phone,corvane,1.1,230,90,250,false,[],42,In stock,[],79.90,75.90,71.90,"
        '99.95,https://shop.example/p/corvane-320p,ip-phones|desk-phones,"{""Powered by PoE"":""true""}"\r\n'
    ),
    "listOrders": (CSV_HEADER + csv_order(_ORDER, [_CSV_ITEM])).decode(),
}


def body_examples(operation: Operation) -> dict[str, Any]:
    """Return examples of an operation's request body, by what they show."""
    named = _named(_BODIES.get(operation.name) or dict(_of_type(operation.body or operation.form)))
    for example in named.values():  # what may be left out is left out
        example["value"] = {name: value for name, value in example["value"].items() if value is not None}
    return named


def answer_examples(operation: Operation) -> dict[str, Any]:
    """Return examples of an operation's successful JSON answer, by what they show."""
    return _named(_ANSWERS.get(operation.name) or dict(_of_type(operation.answer.body)))


def csv_examples(operation: Operation) -> dict[str, Any]:
    """Return examples of an operation's CSV answer."""
    return _named({"A table": _CSV[operation.name]} if operation.name in _CSV else {})


def otherwise_examples(otherwise: Otherwise) -> dict[str, Any]:
    """Return the example of a response with another status."""
    return _named({"Otherwise": otherwise.example})


def oauth_examples(status: int) -> dict[str, Any]:
    """Return an example of a refusal of the token endpoint."""
    return _named({"A refusal": OAuthError("invalid_client" if status == 401 else "invalid_grant")})  # noqa: PLR2004 a status


def _of_type(type_: Any) -> Iterator[tuple[str, Any]]:
    if type_ in _BY_TYPE:
        yield type_.__name__, _BY_TYPE[type_]
    elif get_args(type_):
        [element] = get_args(type_)
        yield from (("List", [value]) for _, value in _of_type(element))


def _named(values: dict[str, Any]) -> dict[str, Any]:
    return {
        summary.replace(" ", "").replace("'", ""): {"summary": summary, "value": msgspec.json.decode(to_json(value))}
        for summary, value in values.items()
    }
