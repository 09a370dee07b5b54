"""Orders as they stand on the wire (specification, section 2)."""

from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Raw, Struct

from tradecounter.customers.wire import CustomerAddress, Email, FortyCharacters, ShortText
from tradecounter.rest.wire import Amount, LocalDateTime

MOST_ITEMS = 500
MOST_UNITS = 100_000
LONGEST_SKU = 200

Reference = Annotated[str, Meta(min_length=1, max_length=100)]

# Decoded later: an address that names a saved one by id is not validated further.
OrderAddress = Annotated[
    Raw,
    Meta(
        description="In full, or the `id` of a saved address: then the rest is ignored.",
        extra_json_schema={
            "anyOf": [
                {"$ref": "#/components/schemas/AddressDetails"},
                {"$ref": "#/components/schemas/AddressReference"},
            ]
        },
    ),
]
ProductJson = Annotated[Raw, Meta(extra_json_schema={"$ref": "#/components/schemas/Product"})]


class NotificationDetails(Struct, omit_defaults=True):
    """Whom to tell: an e-mail address, a phone number, or both."""

    email_address: Annotated[Email | None, Meta(description="An e-mail address.")] = None
    phone_number: Annotated[FortyCharacters | None, Meta(description="A phone number.")] = None


OrderContact = Annotated[
    NotificationDetails | None,
    Meta(description="Whom we tell about the order: confirmed, dispatched, invoiced."),
]
CourierContact = Annotated[NotificationDetails | None, Meta(description="Whom the courier tells about the delivery.")]


class AddressReference(Struct):
    """An address of the address book, named by its id."""

    id: Annotated[int, Meta(description="The saved address's id.")]


class CreateOrderItem(Struct):
    """A line to order."""

    sku: Annotated[
        str, Meta(min_length=1, max_length=LONGEST_SKU, description="The product's SKU; its case does not matter.")
    ]
    quantity: Annotated[int, Meta(ge=1, le=MOST_UNITS, description="Units to order.")]


class ShippingChoice(Struct):
    """The shipping method to use."""

    id: Annotated[int, Meta(description="The id of one of the `shipping_options`.")]


class CreateOrderRequest(Struct):
    """An order to create."""

    customer_reference: Annotated[Reference, Meta(description="Your own reference.")]
    items: Annotated[
        list[CreateOrderItem], Meta(min_length=1, max_length=MOST_ITEMS, description="The lines to order.")
    ]
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

    shipping_method: Annotated[ShippingChoice | None, Meta(description="One of the shipping options.")] = None


class CreatedOrderItem(Struct):
    """A priced line; `cost_net` is the line's total."""

    id: Annotated[int, Meta(description="The line's id.")]
    sku: Annotated[str, Meta(description="The product's SKU.")]
    quantity: Annotated[int, Meta(description="Units ordered.")]
    cost_net: Amount


class CreateOrderShipping(Struct, omit_defaults=True):
    """A way to ship the order; the dates are absent while no known delivery covers it."""

    id: Annotated[int, Meta(description="The shipping method's id: name it in `shipping_method`.")]
    provider: Annotated[str, Meta(description="The courier.")]
    description: Annotated[str, Meta(description="The service, for people.")]
    cost_net: Amount
    expected_dispatch_date: LocalDateTime | None = None
    expected_arrival_date: LocalDateTime | None = None


class CreatedOrder(Struct, omit_defaults=True, kw_only=True):
    """The order as requested, with what the service set: code, shipping options, costs, and once confirmed, ids."""

    customer_reference: Annotated[str, Meta(description="Your own reference.")]
    items: Annotated[list[CreatedOrderItem], Meta(description="The priced lines.")]
    billing_address: CustomerAddress
    shipping_address: CustomerAddress
    shipping_method: CreateOrderShipping | None = None
    shipping_region: Annotated[int, Meta(description="The shipping region's number; 1 is the UK mainland.")]
    external_customer_id: Annotated[str | None, Meta(description="Your identifier of your own customer.")] = None
    order_notifications: OrderContact = None
    courier_notifications: CourierContact = None
    auto_confirm: Annotated[bool | None, Meta(description="As requested.")] = None
    confirmation_code: Annotated[str, Meta(description="Names the order when it is confirmed.")]
    order_id: Annotated[int | None, Meta(description="Set once confirmed.")] = None
    order_reference: Annotated[str | None, Meta(description="Set once confirmed.")] = None
    shipping_options: Annotated[
        list[CreateOrderShipping],
        Meta(
            description="The ways to ship the order. Empty where no method fits a quote, until support has named the "
            "carriage with the price."
        ),
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
    """A line of an order; the product is shown as it is today."""

    id: Annotated[int, Meta(description="The line's id.")]
    product: ProductJson
    quantity: Annotated[int, Meta(description="Units ordered.")]
    cost_net: Amount
    cost_tax: Amount
    related_items: Annotated[list["OrderItem"], Meta(description="The components, of a bundle.")]
    configurations: Annotated[list[OrderItemConfiguration], Meta(description="One for each configured unit.")]
    serial_numbers: Annotated[list[ProductSerialNumber], Meta(description="The dispatched units.")]
    quantity_dispatched: Annotated[int, Meta(description="Units that have left.")]
    quantity_cancelled: Annotated[int, Meta(description="Units that will not come any more.")]


class CsvOrderItem(Struct):
    """A line of an order in CSV, where a spreadsheet's cell has to hold all lines."""

    id: Annotated[int, Meta(description="The id of the item.")]
    sku: Annotated[str, Meta(description="The product's SKU.")]
    quantity: Annotated[int, Meta(description="Units ordered.")]
    cost_net: Amount
    cost_tax: Amount


class TrackingEvent(Struct):
    """Where a shipment was."""

    date: LocalDateTime
    type: Annotated[str, Meta(description="A label; new values may appear.")]
    description: Annotated[str, Meta(description="What happened, for people.")]
    locality: Annotated[str, Meta(description="The place.")]


class OrderShipping(Struct, omit_defaults=True):
    """How the order travels."""

    method_id: Annotated[int, Meta(description="The shipping method's id.")]
    cost_net: Amount
    cost_tax: Amount
    tracking_events: Annotated[list[TrackingEvent], Meta(description="The courier's events, oldest first.")]
    contact_email: Annotated[str | None, Meta(description="Whom the courier tells about the delivery, by e-mail.")] = (
        None
    )
    contact_phone: Annotated[str | None, Meta(description="Whom the courier tells about the delivery, by phone.")] = (
        None
    )
    tracking_number: Annotated[str | None, Meta(description="The courier's number of the shipment.")] = None
    last_tracking_status: Annotated[str | None, Meta(description="The type of the latest event.")] = None


class Order(Struct, omit_defaults=True):
    """A confirmed order."""

    id: Annotated[int, Meta(description="The numeric order id.")]
    order_reference: Annotated[str, Meta(description="The order reference, such as ORD-100042.")]
    customer_reference: Annotated[str, Meta(description="Your own reference.")]
    cost_net: Annotated[Amount, Meta(description="Items only, without shipping.")]
    cost_tax: Amount
    cost_gross: Amount
    created_on: LocalDateTime
    status: Annotated[str, Meta(description="A label; new values may appear.", examples=["Awaiting dispatch"])]
    items: Annotated[list[OrderItem], Meta(description="The lines.")]
    shipping: Annotated[
        list[OrderShipping], Meta(description="One entry until something is dispatched, then one for each shipment.")
    ]
    shipping_address: Annotated[CustomerAddress, Meta(description="Where the order is sent.")]
    external_customer_id: Annotated[str | None, Meta(description="Your identifier of your own customer.")] = None
    expected_dispatch_date: Annotated[
        LocalDateTime | None,
        Meta(
            description="When what is still to come is expected to leave; absent when nothing is, or when no known "
            "delivery covers it."
        ),
    ] = None
