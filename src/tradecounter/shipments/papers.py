"""The papers of the warehouse as data: the picking list and the packing slip of an order."""

from datetime import datetime

from msgspec import Struct

from tradecounter.customers.address_lines import address_lines
from tradecounter.customers.queries.accounts import Packing
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.letterhead.seller import Party
from tradecounter.orders.states import AnyOrder, ConfirmedOrder, shown_state


class PaperPart(Struct, frozen=True):
    """A component of a bundle; `quantity` is of all its bundles."""

    quantity: int
    sku: str
    name: str
    serial_numbers: list[str] = []


class PaperLine(Struct, frozen=True):
    """Units of an item."""

    sku: str
    name: str
    quantity: int
    parts: list[PaperPart] = []
    serial_numbers: list[str] = []


class Paper(Struct, frozen=True, kw_only=True):
    """What both papers have. Times are UTC; `follow` are the units that are not here and still wanted."""

    order_reference: str
    customer_reference: str
    customer_id: int
    delivery: Party
    contact_number: str | None
    shipping: str
    packing: Packing
    lines: list[PaperLine]
    follow: list[PaperLine]


class PickingList(Paper, frozen=True, kw_only=True):
    """What to take from the shelf: `lines` are allocated and not dispatched. `notes` are those of the staff."""

    customer: str
    confirmed_at: datetime
    printed_at: datetime
    notes: list[str]


class PackingSlip(Paper, frozen=True, kw_only=True):
    """What is in a shipment, for its recipient; without prices."""

    shipment_id: int
    dispatched_at: datetime
    tracking_number: str | None


def require_confirmed(order: AnyOrder, now: datetime) -> ConfirmedOrder:
    """Return an order that has papers. Raises DomainError (conflict)."""
    if isinstance(order, ConfirmedOrder):
        return order
    state = shown_state(order, now)
    raise DomainError(Kind.CONFLICT, f"{order.name} is {state}: only confirmed orders are picked and packed")


def delivery_of(order: ConfirmedOrder) -> Party:
    """Return the name and the address to deliver to."""
    address = order.shipping_address
    name = address.company_name or address.contact_name
    return Party(name, [line for line in address_lines(address) if line != name])
