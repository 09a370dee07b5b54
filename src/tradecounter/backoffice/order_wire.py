"""The requests and responses of orders and quotes in the back office."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from tradecounter.customers.wire import CustomerAddress
from tradecounter.ordering.quotes.margin import Margin
from tradecounter.ordering.reseller_wire import AmendOrderRequest, OverrideCredit
from tradecounter.ordering.wire import (
    MOST_UNITS,
    ConfirmOrderRequest,
    CreatedOrder,
    CreateOrderRequest,
    OrderAddress,
    OrderItem,
    ProductSerialNumber,
)
from tradecounter.rest.number_types import Id, Percent, Pounds
from tradecounter.rest.wire import Amount, Moment, Timed

ItemId = Annotated[int, Meta(ge=1, description="The line's id.")]
Units = Annotated[int, Meta(ge=1, le=1_000_000)]
UnitsOrNone = Annotated[int, Meta(ge=0, le=MOST_UNITS)]
State = Literal["pending", "confirmed", "cancelled", "expired"]


class ResellerOrderItem(OrderItem, kw_only=True):
    """A line; `quantity` is what is still wanted: ordered less cancelled."""

    quantity_allocated: Annotated[int, Meta(description="Units that are allocated and not dispatched yet.")]
    quantity_back_ordered: Annotated[int, Meta(description="Units that wait for stock.")]
    quantity_invoiced: Annotated[int, Meta(description="Units that are on an invoice.")]
    quantity_returned: Annotated[int, Meta(description="Units that came back.")]
    unit_cost: Amount


class ShippedItem(Struct):
    """Units of a line in a shipment."""

    id: ItemId
    quantity: Annotated[int, Meta(description="Units.")]
    serial_numbers: list[ProductSerialNumber]


class Shipment(Timed, Struct):
    """A shipment."""

    id: int
    dispatched_at: Moment
    carrier: Annotated[str | None, Meta(description="Who carries it.")]
    tracking_number: str | None
    items: list[ShippedItem]
    invoice: Annotated[int | None, Meta(description="The invoice that has it.")]


class Note(Timed, Struct):
    """A note on an order."""

    at: Moment
    by: str
    text: str


class Happening(Timed, Struct):
    """A change of an order, from the audit log."""

    at: Moment
    by: str
    what: Annotated[str, Meta(description="The action.", examples=["order.cancel"])]


class ResellerTrackingEvent(Timed, Struct):
    """Where a shipment was."""

    date: Moment
    type: Annotated[str, Meta(description="A label; new values may be added.")]
    description: Annotated[str, Meta(description="What happened, for display.")]
    locality: Annotated[str, Meta(description="The place.")]


class ResellerShipping(Struct, omit_defaults=True):
    """How the order is shipped."""

    method_id: Annotated[int, Meta(description="The shipping method's id.")]
    cost_net: Amount
    cost_tax: Amount
    tracking_events: Annotated[list[ResellerTrackingEvent], Meta(description="The courier's events, oldest first.")]
    contact_email: Annotated[str | None, Meta(description="The e-mail address that the courier notifies.")] = None
    contact_phone: Annotated[str | None, Meta(description="The phone number that the courier notifies.")] = None
    tracking_number: Annotated[str | None, Meta(description="The courier's tracking number of the shipment.")] = None
    last_tracking_status: Annotated[str | None, Meta(description="The type of the latest event.")] = None


class ResellerShippingOption(Timed, Struct, omit_defaults=True, kw_only=True):
    """A way to ship the order. The dates are absent while no known delivery covers the order."""

    id: Annotated[int, Meta(description="The shipping method's id, to use in `shipping_method`.")]
    provider: Annotated[str, Meta(description="The courier.")]
    description: Annotated[str, Meta(description="The name of the service, for display.")]
    cost_net: Amount
    expected_dispatch_date: Moment | None = None
    expected_arrival_date: Moment | None = None
    total_gross: Annotated[
        Amount, Meta(description="What the order costs with this option, VAT included: items and shipping.")
    ]


class ResellerOrder(Timed, Struct, omit_defaults=True, kw_only=True):
    """An order of any customer in any state; an unconfirmed one has no reference yet."""

    id: Annotated[int, Meta(description="The numeric order id.")]
    customer_id: Annotated[int, Meta(description="The customer's id.")]
    state: State
    status: Annotated[str | None, Meta(description="A label; set once confirmed.")] = None
    order_reference: Annotated[str | None, Meta(description="Set once confirmed.")] = None
    confirmation_code: Annotated[str, Meta(description="The code to confirm the order by.")]
    customer_reference: Annotated[str, Meta(description="The customer's own reference.")]
    external_customer_id: Annotated[str | None, Meta(description="The customer's id of its own customer.")] = None
    created_on: Annotated[Moment, Meta(description="When it was confirmed, or created if it is not.")]
    cost_net: Annotated[Amount, Meta(description="Items only, without shipping.")]
    cost_tax: Amount
    cost_gross: Amount
    expected_dispatch_date: Annotated[
        Moment | None, Meta(description="When the remaining units are expected to be dispatched, if that is known.")
    ] = None
    billing_address: CustomerAddress
    shipping_address: CustomerAddress
    items: Annotated[list[ResellerOrderItem], Meta(description="The lines.")]
    shipping: Annotated[
        list[ResellerShipping], Meta(description="One entry until something is dispatched, then one per shipment.")
    ]
    shipping_options: Annotated[
        list[ResellerShippingOption] | UnsetType, Meta(description="The ways to ship it; only before the confirmation.")
    ] = UNSET
    shipments: list[Shipment]
    invoices: Annotated[list[int], Meta(description="The numbers of its invoices.")]
    credit_notes: Annotated[list[int], Meta(description="The numbers of its credit notes.")]
    returns: Annotated[list[str], Meta(description="The numbers of its returns.")]
    notes: list[Note]
    history: list[Happening]


class SerialNumber(Struct):
    """A dispatched unit."""

    serial_number: Annotated[str, Meta(min_length=1, max_length=200)]
    mac_address: Annotated[str, Meta(max_length=50)] = ""
    provisioning_sku: Annotated[str, Meta(max_length=200)] = ""


class DispatchedItem(Struct):
    """Units of a line to dispatch."""

    id: ItemId
    quantity: Units
    serial_numbers: list[SerialNumber] = []


class Dispatch(Struct):
    """A shipment to record."""

    items: Annotated[
        list[DispatchedItem] | UnsetType, Meta(description="What leaves; without it, all that is allocated.")
    ] = UNSET
    tracking_number: Annotated[str | None, Meta(description="The courier's number.")] = None


class TakingBack(Struct):
    """Why a shipment is taken back."""

    reason: Annotated[str, Meta(description="It is sent to the customer and stored with the order.")]


class Tracking(Struct):
    """A tracking event to add."""

    type: Annotated[str, Meta(description="A label, such as Collected.")]
    description: Annotated[str, Meta(description="What happened.")]
    tracking_number: Annotated[str | None, Meta(description="The shipment; without it, the latest one.")] = None
    date: Annotated[datetime | None, Meta(description="When it happened, with an offset or `Z`; without it, now.")] = (
        None
    )
    locality: Annotated[str, Meta(description="Where it happened.")] = ""


class Invoicing(Struct):
    """What to invoice."""

    part: Annotated[bool, Meta(description="Invoice what is dispatched, although some units are still to come.")] = (
        False
    )


class NamedUnits(Struct):
    """Units of a line."""

    id: ItemId
    quantity: Units


class Cancellation(Struct):
    """What is cancelled, and why."""

    reason: Annotated[str, Meta(description="It is sent to the customer and stored with the order.")]
    items: Annotated[
        list[NamedUnits] | UnsetType, Meta(description="Undispatched units; without it, all that are left.")
    ] = UNSET


class OrderRequest(CreateOrderRequest, kw_only=True):
    """An order to create for a customer, at its prices and terms."""

    customer_id: Annotated[Id, Meta(description="The customer's id.")]
    override_credit: OverrideCredit | None = None


class Confirmation(ConfirmOrderRequest):
    """Options for confirming an order or a quote for its customer."""

    override_credit: OverrideCredit | None = None


class Amendment(AmendOrderRequest, frozen=True):
    """Changes of a confirmed order; what is not named stays."""

    shipping_address: OrderAddress = field(default_factory=lambda: Raw(b"null"))


class NoteRequest(Struct):
    """A note on an order, which the customer does not see."""

    text: str


class ReturnedUnits(Struct):
    """Dispatched units of a line that come back."""

    id: ItemId
    quantity: Units
    serial_numbers: list[str] = []


class ReturnRequest(Struct):
    """A return to open."""

    items: list[ReturnedUnits]
    reason: str


class ReceivedUnits(Struct):
    """Units of a line that came back."""

    id: ItemId
    restock: Annotated[UnitsOrNone, Meta(description="Units to sell again.")] = 0
    scrap: Annotated[UnitsOrNone, Meta(description="Units to write off.")] = 0


class Receipt(Struct):
    """What came back of a return."""

    items: list[ReceivedUnits]
    credit: Annotated[bool, Meta(description="Credit the invoiced units that came back and are not credited yet.")] = (
        False
    )


class Declination(Struct):
    """Why a quote is declined."""

    reason: Annotated[str, Meta(description="It is sent to the customer and stored with the quote.")]


class ResellerQuote(Timed, CreatedOrder, omit_defaults=True, kw_only=True):
    """A quote of any customer."""

    customer_id: Annotated[int, Meta(description="The customer's id.")]
    status: Annotated[
        str, Meta(description="`Waiting`, `Priced`, `Expired`, `Declined` or `Ordered`.", examples=["Priced"])
    ]
    shipping_method: ResellerShippingOption | None = None  # type: ignore[assignment]  # times are in UTC here
    shipping_options: list[ResellerShippingOption]  # type: ignore[assignment]
    created_at: Moment
    priced_at: Moment | None = None
    expires_at: Moment | None = None
    note: Annotated[str | None, Meta(description="Support's note to the customer.")] = None
    margin: Annotated[Margin | None, Meta(description="Absent while the purchase cost of a product is not known.")] = (
        None
    )


class QuotedItem(Struct):
    """The price of a SKU in a quote."""

    sku: str
    cost_net: Annotated[Pounds, Meta(description="The net cost of one unit.")]


class QuotedShipping(Struct):
    """The cost of a shipping method in a quote."""

    id: Annotated[int, Meta(ge=1, le=2**31 - 1, description="The shipping method's id.")]
    cost_net: Annotated[Pounds, Meta(description="The net cost.")]


class QuotePrice(Struct):
    """Support's price; lines that are not named get the discount, or keep their price."""

    items: list[QuotedItem] = []
    shipping: list[QuotedShipping] = []
    note: Annotated[str | None, Meta(description="A note to the customer.")] = None
    discount: Annotated[
        Percent | None, Meta(description="Per cent off the prices at the request, for lines that are not named.")
    ] = None
    force: Annotated[bool, Meta(description="Allow prices below cost or more than half off.")] = False
