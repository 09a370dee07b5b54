"""The requests and responses of orders and quotes for the reseller: its programs, staff's pages and commands.

Errors of the use cases name a field of a request by its place there: `items[0].quantity`.
"""

from typing import Annotated

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from tradecounter.customers.wire import CustomerAddress
from tradecounter.kit.keys import ExternalId
from tradecounter.kit.numbers import Id
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.kit.wire import Amount, Moment, Timed
from tradecounter.orders.lines import ItemId, NamedUnits
from tradecounter.orders.states import State
from tradecounter.orders.wire import (
    LONGEST_SKU,
    MOST_ITEMS,
    MOST_UNITS,
    ConfirmOrderRequest,
    CreateOrderRequest,
    CreateOrderShipping,
    OrderAddress,
    OrderItem,
    ProductSerialNumber,
    Reference,
    ShippingChoice,
    ShippingFields,
    TrackingEvent,
)

Reason = Annotated[str, Meta(max_length=LONGEST_REASON)]


class OverrideCredit(Struct, frozen=True):
    """Lets an order exceed the account's credit, for a reason; only finance may."""

    reason: Annotated[str, Meta(description="Why.")]


Sku = Annotated[str, Meta(min_length=1, max_length=LONGEST_SKU)]
Units = Annotated[int, Meta(ge=0, le=MOST_UNITS)]


class AmendedItem(Struct, frozen=True):
    """A changed line, by its id, or a new one, by its SKU."""

    id: Annotated[int | None, Meta(description="The id of a line of the order.")] = None
    sku: Annotated[Sku | None, Meta(description="The SKU of a product to add.")] = None
    quantity: Annotated[
        Units | None, Meta(description="The units that are wanted, dispatched ones included; 0 removes the line.")
    ] = None
    unit_cost: Annotated[
        Amount | None, Meta(description="The net selling price of a unit; by default the line's own, or today's.")
    ] = None


class AmendOrderRequest(Struct, frozen=True):
    """Changes of a confirmed order; what is not named stays."""

    items: Annotated[list[AmendedItem], Meta(max_length=MOST_ITEMS)] = []
    shipping_address: Annotated[Raw, Meta(description="A full address, or the `id` of a saved one.")] = Raw()
    shipping_method: ShippingChoice | None = None
    customer_reference: Reference | None = None
    reason: Reason = ""
    override_credit: OverrideCredit | None = None

    @property
    def changes_nothing(self) -> bool:
        """Whether the request names nothing to change."""
        changes = (self.items, self.new_address, self.shipping_method, self.customer_reference)
        return all(value in (None, []) for value in changes)

    @property
    def new_address(self) -> Raw | None:
        """The delivery address as JSON, or None when it stays."""
        return None if bytes(self.shipping_address) in {b"", b"null"} else self.shipping_address


class ResellerOrderItem(OrderItem, kw_only=True):
    """A line; `quantity` is what is still wanted: ordered less cancelled."""

    quantity_allocated: Annotated[int, Meta(description="Units that are allocated and not dispatched yet.")]
    quantity_back_ordered: Annotated[int, Meta(description="Units that wait for stock.")]
    quantity_invoiced: Annotated[int, Meta(description="Units that are on an invoice.")]
    quantity_to_invoice: Annotated[
        int, Meta(description="Units that left and are on no invoice, less those that came back uninvoiced.")
    ]
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


class ResellerTrackingEvent(Timed, TrackingEvent):
    """Where a shipment was."""

    date: Moment  # type: ignore[assignment]  # times are in UTC here


class ResellerShipping(ShippingFields, omit_defaults=True):
    """How the order is shipped."""

    tracking_events: Annotated[  # type: ignore[assignment]
        list[ResellerTrackingEvent], Meta(description="The courier's events, oldest first.")
    ]


class ResellerShippingOption(Timed, CreateOrderShipping, omit_defaults=True, kw_only=True):
    """A way to ship the order. The dates are absent while no known delivery covers the order."""

    expected_dispatch_date: Moment | None = None  # type: ignore[assignment]
    expected_arrival_date: Moment | None = None  # type: ignore[assignment]


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
    external_id: Annotated[
        str | None, Meta(description="Its id in another of your programs, which the customer never sees.")
    ] = None
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


class TakingBack(Struct):
    """Why a shipment is taken back."""

    reason: Annotated[str, Meta(description="The reason, which is sent to the customer and stored with the order.")]


class Tracking(Struct):
    """A tracking event to add."""

    type: Annotated[str, Meta(description="A label, such as Collected.")]
    description: Annotated[str, Meta(description="What happened.")]
    tracking_number: Annotated[str | None, Meta(description="The shipment; without it, the latest one.")] = None
    date: Annotated[Moment | None, Meta(description="When it happened, with an offset or `Z`; without it, now.")] = None
    locality: Annotated[str, Meta(description="Where it happened.")] = ""


class Invoicing(Struct):
    """What to invoice."""

    part: Annotated[bool, Meta(description="Invoice what is dispatched, although some units are still to come.")] = (
        False
    )


class OrderRequest(CreateOrderRequest, kw_only=True):
    """An order to create for a customer, at its prices and terms."""

    customer_id: Annotated[Id, Meta(description="The customer's id.")]
    external_id: ExternalId | None = None
    override_credit: OverrideCredit | None = None


class Confirmation(ConfirmOrderRequest):
    """Options for confirming an order or a quote for its customer."""

    override_credit: OverrideCredit | None = None


class ExternalIdChange(Struct):
    """The id of an order in another program."""

    external_id: ExternalId | None = None


class Amendment(AmendOrderRequest, frozen=True):
    """Changes of a confirmed order; what is not named stays. `external_id` can change in any state."""

    external_id: ExternalId | UnsetType | None = UNSET
    shipping_address: OrderAddress = field(default_factory=lambda: Raw(b"null"))


class Cancellation(Struct):
    """What is cancelled, and why."""

    reason: Annotated[str, Meta(description="The reason, which is sent to the customer and stored with the order.")]
    items: Annotated[
        list[NamedUnits] | UnsetType, Meta(description="Undispatched units; without it, all that are left.")
    ] = UNSET


class NoteRequest(Struct):
    """A note on an order, which the customer does not see."""

    text: str
