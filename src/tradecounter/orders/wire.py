"""The requests and responses of orders (specification, section 2)."""

from decimal import Decimal
from typing import Annotated

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, defstruct
from msgspec.structs import fields

from tradecounter.customers.wire import AddressDetails, CustomerAddress, Email, FortyCharacters, ShortText
from tradecounter.kit.numbers import PoundsToCompare
from tradecounter.kit.wire import Amount, LocalDateTime

MOST_ITEMS = 500
MOST_UNITS = 100_000
LONGEST_SKU = 200

Reference = Annotated[str, Meta(min_length=1, max_length=100)]

OrderAddressDetails = defstruct(
    "OrderAddressDetails",
    [
        ("id", Annotated[int | None, Meta(description="The id of a saved address, instead of other fields.")], None),
        *(
            (each.encode_name, each.type | None if each.required else each.type, None)
            for each in fields(AddressDetails)
        ),
    ],
    namespace={"__doc__": "An address of an order: a saved one by its `id`, or a full one."},
    omit_defaults=True,
)

# Decoded later: only an address without an id must be complete.
OrderAddress = Annotated[
    Raw,
    Meta(
        description="A full address, or the `id` of a saved address; with an `id`, the other fields are ignored.",
        # One type instead of a choice of two: few generators make a type from a choice that takes an `id` alone.
        extra_json_schema={
            "$ref": "#/components/schemas/OrderAddressDetails",
            "if": {"not": {"required": ["id"], "properties": {"id": {}}}},
            "then": {"$ref": "#/components/schemas/AddressDetails"},
        },
    ),
]
ProductJson = Annotated[Raw, Meta(extra_json_schema={"$ref": "#/components/schemas/Product"})]


class NotificationDetails(Struct, omit_defaults=True):
    """A contact: an e-mail address, a phone number, or both."""

    email_address: Annotated[Email | None, Meta(description="An e-mail address.")] = None
    phone_number: Annotated[FortyCharacters | None, Meta(description="A phone number.")] = None


OrderContact = Annotated[
    NotificationDetails | None,
    Meta(description="Gets the e-mails about the order, such as that it is confirmed, dispatched or invoiced."),
]
CourierContact = Annotated[
    NotificationDetails | None, Meta(description="The courier notifies this contact about the delivery.")
]


MaxCostGross = Annotated[
    PoundsToCompare | None,
    Meta(description="The most that the items may cost together, in pounds with VAT, without shipping; above it, 409."),
]


class CreateOrderItem(Struct, omit_defaults=True):
    """A line to order."""

    sku: Annotated[
        str, Meta(min_length=1, max_length=LONGEST_SKU, description="The product's SKU; case does not matter.")
    ]
    quantity: Annotated[int, Meta(ge=1, le=MOST_UNITS, description="Units to order.")]
    max_unit_cost: Annotated[
        PoundsToCompare | None,
        Meta(
            description="The most that one unit may cost, in pounds without VAT; if it costs more, 409. Not for quotes."
        ),
    ] = None


class ShippingChoice(Struct):
    """The shipping method to use."""

    id: Annotated[int, Meta(description="The id of one of the `shipping_options`.")]


AllowBackOrders = Annotated[
    bool | None,
    Meta(description="`false`: the order is rejected with 409, now or when it is confirmed, unless all is in stock."),
]


class OrderDetails(Struct):
    """What is ordered, where it goes, and who hears of it."""

    customer_reference: Annotated[Reference, Meta(description="Your own reference.")]
    items: Annotated[
        list[CreateOrderItem], Meta(min_length=1, max_length=MOST_ITEMS, description="The lines to order.")
    ]
    billing_address: OrderAddress
    shipping_address: OrderAddress
    shipping_method: Annotated[ShippingChoice | None, Meta(description="One of the shipping options.")] = None
    shipping_region: Annotated[
        int | None, Meta(description="The shipping region; 1 is the UK mainland. By default, the address's region.")
    ] = None
    external_customer_id: Annotated[ShortText | None, Meta(description="Your identifier for your own customer.")] = None
    order_notifications: OrderContact = None
    courier_notifications: CourierContact = None


class CreateOrderRequest(OrderDetails):
    """An order to create."""

    auto_confirm: Annotated[bool | None, Meta(description="Confirms the order immediately; not for quotes.")] = None
    max_cost_gross: MaxCostGross = None
    allow_back_orders: AllowBackOrders = None


class ConfirmOrderRequest(Struct):
    """Options for confirming an order."""

    shipping_method: Annotated[ShippingChoice | None, Meta(description="One of the shipping options.")] = None
    max_cost_gross: MaxCostGross = None
    allow_back_orders: Annotated[
        bool | None,
        Meta(description="`false`: 409 unless all is in stock. By default, as the creation said."),
    ] = None


class CreatedOrderItem(Struct):
    """A priced line; `cost_net` is the line's total."""

    id: Annotated[int, Meta(description="The line's id.")]
    sku: Annotated[str, Meta(description="The product's SKU.")]
    quantity: Annotated[int, Meta(description="Units ordered.")]
    cost_net: Amount


class CreateOrderShipping(Struct, omit_defaults=True, kw_only=True):
    """A way to ship the order. The dates are absent while no known delivery covers the order."""

    id: Annotated[int, Meta(description="The shipping method's id, to use in `shipping_method`.")]
    provider: Annotated[str, Meta(description="The courier.")]
    description: Annotated[str, Meta(description="The name of the service, for display.")]
    cost_net: Amount
    expected_dispatch_date: LocalDateTime | None = None
    expected_arrival_date: LocalDateTime | None = None
    total_gross: Annotated[
        Amount, Meta(description="What the order costs with this option, VAT included: items and shipping.")
    ]


class CreatedOrder(Struct, omit_defaults=True, kw_only=True):
    """The order as requested, with its code, shipping options and costs; once confirmed, also its ids."""

    customer_reference: Annotated[str, Meta(description="Your own reference.")]
    items: Annotated[list[CreatedOrderItem], Meta(description="The priced lines.")]
    billing_address: CustomerAddress
    shipping_address: CustomerAddress
    shipping_method: CreateOrderShipping | None = None
    shipping_region: Annotated[int, Meta(description="The shipping region; 1 is the UK mainland.")]
    external_customer_id: Annotated[str | None, Meta(description="Your identifier for your own customer.")] = None
    order_notifications: OrderContact = None
    courier_notifications: CourierContact = None
    auto_confirm: Annotated[bool | None, Meta(description="As requested.")] = None
    allow_back_orders: Annotated[bool | None, Meta(description="`false` if the order must not wait for stock.")] = None
    confirmation_code: Annotated[str, Meta(description="The code to confirm the order by.")]
    order_id: Annotated[int | None, Meta(description="Set once confirmed.")] = None
    order_reference: Annotated[str | None, Meta(description="Set once confirmed.")] = None
    shipping_options: Annotated[
        list[CreateOrderShipping],
        Meta(
            description="The ways to ship the order, the cheapest first. Empty if no method fits a quote, until "
            "support has priced it."
        ),
    ]
    shipping_weight: Annotated[Decimal, Meta(description="The weight of all items, in kilograms.")]
    cost_net: Annotated[Amount, Meta(description="Items only, without shipping.")]
    cost_tax: Amount
    cost_gross: Amount


class PendingOrderReadBack(CreatedOrder, omit_defaults=True, kw_only=True):
    """A pending order as created."""

    status: Annotated[str, Meta(description="`Pending`, `Expired` or `Cancelled`.")]
    expires_on: Annotated[
        LocalDateTime | None, Meta(description="Until when a pending order can be confirmed; absent if cancelled.")
    ] = None


class ProvisioningData(Struct, omit_defaults=True):
    """The configuration of a broadband router. Without the key to decrypt it, only the product is present."""

    product: Annotated[str, Meta(description="The SKU of the configured product.")]
    adsl_username: Annotated[str | None, Meta(description="The broadband line's user name.")] = None
    adsl_password: Annotated[str | None, Meta(description="The broadband line's password.")] = None
    wifi_ssid: Annotated[str | None, Meta(description="The name of the wireless network.")] = None
    wifi_password: Annotated[str | None, Meta(description="The wireless network's password.")] = None


class OrderItemConfiguration(Struct):
    """One unit's configuration."""

    data: ProvisioningData


class ProductSerialNumber(Struct):
    """A dispatched unit."""

    mac_address: Annotated[str, Meta(description="The unit's MAC address; empty when unknown.")]
    serial_number: Annotated[str, Meta(description="The unit's serial number.")]
    provisioning_sku: Annotated[str, Meta(description="The SKU under which the unit is provisioned.")]


class OrderItem(Struct):
    """A line of an order, with the current data of the product."""

    id: Annotated[int, Meta(description="The line's id.")]
    product: ProductJson
    quantity: Annotated[
        int, Meta(description="Units ordered, less those cancelled; a cancelled order keeps its units.")
    ]
    cost_net: Amount
    cost_tax: Amount
    related_items: Annotated[list["OrderItem"], Meta(description="The components, for a bundle.")]
    configurations: Annotated[list[OrderItemConfiguration], Meta(description="One per configured unit.")]
    serial_numbers: Annotated[list[ProductSerialNumber], Meta(description="The dispatched units.")]
    quantity_dispatched: Annotated[int, Meta(description="Units that were dispatched.")]
    quantity_cancelled: Annotated[int, Meta(description="Units that were cancelled.")]


class CsvOrderItem(Struct):
    """A line of an order in CSV, where one cell contains all lines."""

    id: Annotated[int, Meta(description="The id of the item.")]
    sku: Annotated[str, Meta(description="The product's SKU.")]
    quantity: Annotated[
        int, Meta(description="Units ordered, less those cancelled; a cancelled order keeps its units.")
    ]
    cost_net: Amount
    cost_tax: Amount


class TrackingEvent(Struct):
    """Where a shipment was."""

    date: LocalDateTime
    type: Annotated[str, Meta(description="A label; new values may be added.")]
    description: Annotated[str, Meta(description="What happened, for display.")]
    locality: Annotated[str, Meta(description="The place.")]


class ShippedUnits(Struct):
    """Units of an item in a shipment."""

    id: Annotated[int, Meta(description="The item's id; also of a component of a bundle.")]
    quantity: Annotated[int, Meta(description="Units in the shipment.")]
    serial_numbers: Annotated[list[ProductSerialNumber], Meta(description="Those of these units that are known.")]


class ShippingFields(Struct, omit_defaults=True):
    """What an order's shipping has, whoever reads it."""

    method_id: Annotated[int, Meta(description="The shipping method's id.")]
    cost_net: Amount
    cost_tax: Amount
    tracking_events: Annotated[list[TrackingEvent], Meta(description="The courier's events, oldest first.")]
    contact_email: Annotated[str | None, Meta(description="The e-mail address that the courier notifies.")] = None
    contact_phone: Annotated[str | None, Meta(description="The phone number that the courier notifies.")] = None
    tracking_number: Annotated[str | None, Meta(description="The courier's tracking number of the shipment.")] = None
    last_tracking_status: Annotated[str | None, Meta(description="The type of the latest event.")] = None


class OrderShipping(ShippingFields, omit_defaults=True):
    """How the order is shipped. Once something is dispatched, an entry is a shipment, with `shipment_id`."""

    shipment_id: Annotated[int | None, Meta(description="The shipment's id; absent before the dispatch.")] = None
    carrier: Annotated[str | None, Meta(description="Who carries the shipment.")] = None
    tracking_url: Annotated[str | None, Meta(description="The carrier's page about the shipment.")] = None
    dispatched_on: Annotated[LocalDateTime | None, Meta(description="When the shipment left.")] = None
    items: Annotated[list[ShippedUnits] | UnsetType, Meta(description="What is in the shipment; not in CSV.")] = UNSET


class Order(Struct, omit_defaults=True):
    """A confirmed order."""

    id: Annotated[int, Meta(description="The numeric order id.")]
    order_reference: Annotated[str, Meta(description="The order reference, such as ORD-100042.")]
    customer_reference: Annotated[str, Meta(description="Your own reference.")]
    cost_net: Annotated[Amount, Meta(description="Items only, without shipping.")]
    cost_tax: Amount
    cost_gross: Amount
    created_on: LocalDateTime
    status: Annotated[str, Meta(description="A label; new values may be added.", examples=["Awaiting dispatch"])]
    items: Annotated[list[OrderItem], Meta(description="The lines.")]
    shipping: Annotated[
        list[OrderShipping], Meta(description="One entry until something is dispatched, then one per shipment.")
    ]
    shipping_address: Annotated[CustomerAddress, Meta(description="Where the order is sent.")]
    external_customer_id: Annotated[str | None, Meta(description="Your identifier for your own customer.")] = None
    expected_dispatch_date: Annotated[
        LocalDateTime | None,
        Meta(
            description="When the remaining units are expected to be dispatched; absent if none remain, or if no "
            "known delivery covers them."
        ),
    ] = None
    changed_on: Annotated[
        LocalDateTime | None,
        Meta(
            description="When the order changed last: its status, lines, shipments, tracking, serial numbers, "
            "configurations, packing video or address; not when a product's own data did."
        ),
    ] = None
