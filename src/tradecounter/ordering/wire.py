"""Orders as they stand on the wire (specification, section 2)."""

from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Raw, Struct

from tradecounter.customers.wire import CustomerAddress, Email, FortyCharacters, ShortText
from tradecounter.rest.wire import Amount, LocalDateTime

MOST_ITEMS = 500
MOST_UNITS = 100_000

Reference = Annotated[str, Meta(min_length=1, max_length=100)]

# Decoded later: an address that names a saved one by id is not validated further.
OrderAddress = Annotated[
    Raw,
    Meta(
        description="In full, or the `id` of a saved address: then the rest is ignored.",
        extra_json_schema={
            "anyOf": [
                {"$ref": "#/components/schemas/AddressDetails"},
                {"$ref": "#/components/schemas/SavedAddress"},
            ]
        },
    ),
]
ProductJson = Annotated[Raw, Meta(extra_json_schema={"$ref": "#/components/schemas/Product"})]


class NotificationDetails(Struct, omit_defaults=True):
    """Whom to tell: an e-mail address, a phone number, or both."""

    email_address: Email | None = None
    phone_number: FortyCharacters | None = None


OrderContact = Annotated[
    NotificationDetails | None,
    Meta(description="Whom we tell about the order: confirmed, dispatched, invoiced."),
]
CourierContact = Annotated[NotificationDetails | None, Meta(description="Whom the courier tells about the delivery.")]


class SavedAddress(Struct):
    """An address of the address book."""

    id: int


class CreateOrderItem(Struct):
    """A line to order."""

    sku: Annotated[str, Meta(min_length=1, max_length=200, description="The product's SKU; its case does not matter.")]
    quantity: Annotated[int, Meta(ge=1, le=MOST_UNITS)]


class ShippingChoice(Struct):
    """The shipping method to use."""

    id: int


class CreateOrderRequest(Struct):
    """An order to create."""

    customer_reference: Annotated[Reference, Meta(description="Your own reference.")]
    items: Annotated[list[CreateOrderItem], Meta(min_length=1, max_length=MOST_ITEMS)]
    billing_address: OrderAddress
    shipping_address: OrderAddress
    shipping_method: Annotated[ShippingChoice | None, Meta(description="One of the shipping options.")] = None
    shipping_region: Annotated[
        int | None, Meta(description="Absent: the region of the address's postcode or country; 1 is the UK mainland.")
    ] = None
    external_customer_id: Annotated[ShortText | None, Meta(description="Your identifier of your own customer.")] = None
    order_notifications: OrderContact = None
    courier_notifications: CourierContact = None
    auto_confirm: Annotated[bool | None, Meta(description="Confirm at once; not for quotes.")] = None


class ConfirmOrderRequest(Struct):
    """What may be chosen when confirming."""

    shipping_method: ShippingChoice | None = None


class CreatedOrderItem(Struct):
    """A priced line; `cost_net` is the line's total."""

    id: int
    sku: str
    quantity: int
    cost_net: Amount


class CreateOrderShipping(Struct, omit_defaults=True):
    """A way to ship the order; the dates are absent while no known delivery covers it."""

    id: int
    provider: str
    description: str
    cost_net: Amount
    expected_dispatch_date: LocalDateTime | None = None
    expected_arrival_date: LocalDateTime | None = None


class CreatedOrder(Struct, omit_defaults=True, kw_only=True):
    """The order as requested, with what the service set: code, shipping options, costs, and once confirmed, ids."""

    customer_reference: str
    items: list[CreatedOrderItem]
    billing_address: CustomerAddress
    shipping_address: CustomerAddress
    shipping_method: CreateOrderShipping | None = None
    shipping_region: int
    external_customer_id: str | None = None
    order_notifications: OrderContact = None
    courier_notifications: CourierContact = None
    auto_confirm: bool | None = None
    confirmation_code: Annotated[str, Meta(description="Names the order when it is confirmed.")]
    order_id: Annotated[int | None, Meta(description="Set once confirmed.")] = None
    order_reference: Annotated[str | None, Meta(description="Set once confirmed.")] = None
    shipping_options: Annotated[
        list[CreateOrderShipping],
        Meta(description="Empty where no method fits a quote, until support has named the carriage with the price."),
    ]
    shipping_weight: Annotated[Decimal, Meta(description="Kilograms, of all items together.")]
    cost_net: Annotated[Amount, Meta(description="Items only, without shipping.")]
    cost_tax: Amount
    cost_gross: Amount


class Quote(CreatedOrder, omit_defaults=True, kw_only=True):
    """A quote as created, with support's prices once it is priced."""

    status: Annotated[
        str,
        Meta(
            description="`Waiting` for support's price; `Priced`: can be confirmed until `expires_on`; `Expired`; "
            "`Declined` by support; `Ordered`: confirmed, as `order_reference`. New values may appear.",
            examples=["Priced"],
        ),
    ]
    expires_on: Annotated[LocalDateTime | None, Meta(description="Set once priced.")] = None


class ProvisioningData(Struct, omit_defaults=True):
    """What a broadband router is set up with; all but the product is absent while it cannot be decrypted."""

    product: Annotated[str, Meta(description="The SKU of the configured product.")]
    adsl_username: str | None = None
    adsl_password: str | None = None
    wifi_ssid: str | None = None
    wifi_password: str | None = None


class OrderItemConfiguration(Struct):
    """One unit's configuration."""

    data: ProvisioningData


class ProductSerialNumber(Struct):
    """A dispatched unit."""

    mac_address: str
    serial_number: str
    provisioning_sku: Annotated[str, Meta(description="The SKU under which the unit is provisioned.")]


class OrderItem(Struct):
    """A line of an order; the product is shown as it is today."""

    id: int
    product: ProductJson
    quantity: int
    cost_net: Amount
    cost_tax: Amount
    related_items: Annotated[list["OrderItem"], Meta(description="The components, of a bundle.")]
    configurations: list[OrderItemConfiguration]
    serial_numbers: list[ProductSerialNumber]
    quantity_dispatched: Annotated[int, Meta(description="Units that have left.")]
    quantity_cancelled: Annotated[int, Meta(description="Units that will not come any more.")]


class CsvOrderItem(Struct):
    """A line of an order in CSV, where a spreadsheet's cell has to hold all lines."""

    id: int
    sku: str
    quantity: int
    cost_net: Amount
    cost_tax: Amount


class TrackingEvent(Struct):
    """Where a shipment was."""

    date: LocalDateTime
    type: str
    description: str
    locality: str


class OrderShipping(Struct, omit_defaults=True):
    """How the order travels."""

    method_id: int
    cost_net: Amount
    cost_tax: Amount
    tracking_events: list[TrackingEvent]
    contact_email: str | None = None
    contact_phone: str | None = None
    tracking_number: str | None = None
    last_tracking_status: str | None = None


class Order(Struct, omit_defaults=True):
    """A confirmed order."""

    id: int
    order_reference: str
    customer_reference: str
    cost_net: Annotated[Amount, Meta(description="Items only, without shipping.")]
    cost_tax: Amount
    cost_gross: Amount
    created_on: LocalDateTime
    status: Annotated[str, Meta(description="A label; new values may appear.", examples=["Awaiting dispatch"])]
    items: list[OrderItem]
    shipping: list[OrderShipping]
    shipping_address: CustomerAddress
    external_customer_id: Annotated[str | None, Meta(description="Your identifier of your own customer.")] = None
    expected_dispatch_date: Annotated[
        LocalDateTime | None,
        Meta(
            description="When what is still to come is expected to leave; absent when nothing is, or when no known "
            "delivery covers it."
        ),
    ] = None
