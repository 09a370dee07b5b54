"""Examples of the back office's resources, for its interface document."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal

from msgspec import Raw, structs

from tradecounter.audit.wire import AuditActor, AuditEntry
from tradecounter.backoffice import order_wire as orders
from tradecounter.backoffice import product_wire as products
from tradecounter.backoffice.customer_wire import (
    Blocking,
    CreatedKey,
    CustomerChange,
    CustomerCredit,
    CustomerRequest,
    Key,
    KeyRequest,
    ResellerCustomer,
    User,
    UserRequest,
)
from tradecounter.backoffice.operations_wire import Job
from tradecounter.backoffice.subject import Described
from tradecounter.billing.reseller_wire import IssuedCreditNote, ReceivedReturn
from tradecounter.customers.examples import ADDRESS_DETAILS, CUSTOMER_ADDRESS, SAVED_ADDRESS
from tradecounter.customers.wire import AddressDetails, SavedAddress
from tradecounter.fulfilment import requests as shipments
from tradecounter.fulfilment.correct_shipment import ShipmentCorrection
from tradecounter.fulfilment.wire import OrderVideoResponse
from tradecounter.ordering import examples as ordering
from tradecounter.ordering import requests as asked
from tradecounter.ordering.quotes.margin import Margin
from tradecounter.ordering.reseller_wire import AmendedItem
from tradecounter.ordering.returns import requests as returned
from tradecounter.ordering.returns.wire import Return, ReturnItem
from tradecounter.ordering.units import NamedUnits
from tradecounter.ordering.wire import ProductSerialNumber, ShippingChoice

_AT = datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC)
_CREDIT = CustomerCredit(Decimal("5000.00"), Decimal("558.38"), Decimal("4441.62"), Decimal("0.00"), Decimal("0.00"))

_CUSTOMER = ResellerCustomer(
    id=1001,
    email_address="buyer@harbourline.example",
    first_name="Ada",
    last_name="Buyer",
    company="Harbourline Communications",
    accounts_email="accounts@harbourline.example",
    trade_account=True,
    price_list="gold",
    discount=Decimal("2.50"),
    credit_limit=Decimal("5000.00"),
    term_days=30,
    packing="own",
    shipping_method=101,
    unique_references=False,
    order_mails=True,
    blocked=False,
    blocked_reason=None,
    created_at=_AT,
    credit=_CREDIT,
)
_NEW_CUSTOMER = CustomerRequest(
    email_address="buyer@harbourline.example",
    first_name="Ada",
    last_name="Buyer",
    company="Harbourline Communications",
    credit_limit=Decimal("5000.00"),
    term_days=30,
)

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
_NEW_RETURN = returned.ReturnRequest([returned.ReturnedUnits(90017, 1, ["A1B2C3"])], "Faulty")
_RETURN = Return(
    number="RMA-1001",
    order_reference="ORD-100042",
    customer_id=1001,
    state="received",
    reason="Faulty",
    opened_at=_AT,
    received_at=datetime(2026, 6, 18, 10, tzinfo=UTC),
    closed_at=None,
    items=[
        ReturnItem(
            id=90017,
            sku="CV-320P",
            quantity=1,
            received=1,
            restocked=0,
            scrapped=1,
            serial_numbers=["A1B2C3"],
            credited=0,
        )
    ],
)
_CREDITED = [structs.replace(item, credited=1) for item in _RETURN.items]
_RECEIVED = ReceivedReturn(
    **structs.asdict(_RETURN) | {"state": "closed", "closed_at": _RETURN.received_at, "items": _CREDITED},
    credit_notes=[IssuedCreditNote(50001, 10001, Decimal("60.00"))],
)
_OPTION = orders.ResellerShippingOption(
    id=101,
    provider="Northway Parcels",
    description="UK mainland next working day",
    cost_net=Decimal("7.04"),
    expected_dispatch_date=_AT.replace(hour=16),
    expected_arrival_date=_AT.replace(day=17),
    total_gross=Decimal("554.93"),
)
_QUOTE = orders.ResellerQuote(
    **structs.asdict(ordering.PENDING_ORDER) | {"shipping_options": [_OPTION]},
    status="Priced",
    customer_id=1001,
    created_at=_AT,
    priced_at=_AT,
    expires_at=_AT.replace(day=23),
    note="With our thanks.",
    margin=Margin(Decimal("435.00"), Decimal("360.00"), Decimal("75.00"), Decimal("17.24")),
)
_QUOTE_PRICE = asked.QuotePrice(
    [asked.QuotedItem("CV-320P", Decimal("72.50"))],
    [asked.QuotedShipping(101, Decimal("0.00"))],
    "With our thanks.",
)

_PRODUCT = products.ResellerProduct(
    sku="CV-320P",
    name="Convoy 320P desk phone",
    manufacturer="convoy",
    ean="5012345678900",
    active=True,
    weight_kg=Decimal("1.1"),
    clearance_product=False,
    configurable=False,
    categories=["desk-phones"],
    stock=products.Stock(120, 114, 6, 0),
    deliveries=[products.ExpectedDelivery(_AT.replace(month=7), 50)],
    prices=[products.ListCosts("default", Decimal("82.00"), Decimal("79.00"), Decimal("75.90"))],
    contract_prices=[products.ContractCosts(1001, date(2026, 1, 1), date(2026, 12, 31), Decimal("70.00"), None, None)],
)
_PRICE = products.ResellerPrice(
    sku="CV-320P",
    customer_id=1001,
    quantity=5,
    unit_cost=Decimal("77.03"),
    break_=5,
    rule="default",
    discount=Decimal("2.50"),
    candidates=[
        products.PriceCandidate(
            rule="default",
            price_list="default",
            valid_from=None,
            valid_until=None,
            single_unit_cost=Decimal("82.00"),
            five_plus_unit_cost=Decimal("79.00"),
            ten_plus_unit_cost=Decimal("75.90"),
            applies=True,
            why="the customer has no price list of its own",
        )
    ],
)

_AUDIT_ENTRY = AuditEntry(
    id=87,
    at=_AT,
    actor=AuditActor(kind="token", id=3, name="Warehouse", acting_user="sam@reseller.example"),
    address="192.0.2.10",
    action="stock.adjust",
    subject="product/CV-320P",
    before=Raw(b'{"CV-320P": 118}'),
    after=Raw(b'{"CV-320P": 120, "reason": "Stocktake"}'),
)

DESCRIBED: Mapping[type, Described] = {
    ResellerCustomer: Described("The customer.", _CUSTOMER, "Customer"),
    CustomerRequest: Described("", _NEW_CUSTOMER),
    CustomerChange: Described("", CustomerChange(credit_limit=Decimal("7500.00"), term_days=30)),
    Blocking: Described("", Blocking("Invoices are over 90 days late.")),
    Key: Described("The key.", Key(7, "ERP", "3f9a1c20", _AT, _AT, None)),
    KeyRequest: Described("", KeyRequest("ERP")),
    CreatedKey: Described("The key, which is shown only now.", CreatedKey(7, "ERP", "3f9a1c20", "3f9a1c20" * 8, _AT)),
    User: Described(
        "The user.",
        User(12, "sam@harbourline.example", "", "buyer", has_password=False, created_at=_AT, disabled_at=None),
    ),
    UserRequest: Described("", UserRequest("sam@harbourline.example", "buyer")),
    SavedAddress: Described("The address.", SAVED_ADDRESS),
    AddressDetails: Described("", ADDRESS_DETAILS),
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
    Return: Described("The return.", _RETURN),
    returned.ReturnRequest: Described("", _NEW_RETURN),
    returned.Receipt: Described("", returned.Receipt([returned.ReceivedUnits(90017, scrap=1)], credit=True)),
    ReceivedReturn: Described("The return.", _RECEIVED, "Return"),
    orders.ResellerQuote: Described("The quote.", _QUOTE, "Quote"),
    asked.QuotePrice: Described("", _QUOTE_PRICE),
    asked.Declination: Described("", asked.Declination("The product is no longer made.")),
    products.ListedProduct: Described(
        "The product.",
        products.ListedProduct("CV-320P", "Convoy 320P desk phone", "convoy", "5012345678900", active=True),
    ),
    products.ResellerProduct: Described("The product.", _PRODUCT, "Product"),
    products.ResellerPrice: Described("The price.", _PRICE, "Price"),
    products.AdjustmentRequest: Described(
        "", products.AdjustmentRequest([products.AdjustedUnits("CV-320P", "Stocktake", set=120)])
    ),
    products.AdjustmentResult: Described(
        "The stock of each product.", products.AdjustmentResult([products.AdjustedItem("CV-320P", 120, 114, 6, 0)])
    ),
    Job: Described("The job.", Job(42, "mail_order_confirmed", "failed", {"order_id": 4}, 6, None, _AT)),
    AuditEntry: Described("The entry.", _AUDIT_ENTRY),
}
