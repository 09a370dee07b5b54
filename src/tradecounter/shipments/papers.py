"""The papers of the warehouse as data, and their bar codes: the picking list and the packing slip of an order."""

from datetime import datetime

from msgspec import Struct

from tradecounter.customers.address_rules import address_lines
from tradecounter.customers.settings import Packing
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.letterhead.seller import Party
from tradecounter.orders.states import AnyOrder, ConfirmedOrder, shown_state
from tradecounter.products.scan_codes import Scanned


class PaperPart(Scanned, Struct, frozen=True):
    """A component of a bundle; `quantity` is of all its bundles."""

    line_id: int
    quantity: int
    sku: str
    name: str
    serial_numbers: list[str] = []
    location: str = ""
    ean: str | None = None


class PaperLine(Scanned, Struct, frozen=True):
    """Units of an item."""

    line_id: int
    sku: str
    name: str
    quantity: int
    parts: list[PaperPart] = []
    serial_numbers: list[str] = []
    location: str = ""
    ean: str | None = None


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
    """What to take from the shelf, in the order of the shelves: `lines` are allocated and not dispatched.

    `notes` are those of the staff.
    """

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


_FIRST, _LAST = " ", "~"  # of code set B: values 0 to 94
_START_B, _STOP = 104, 106
_MODULUS = 103

# The widths of bar, space, bar, space, bar, space in modules, by value; the stop pattern ends with another bar.
_WIDTHS = (
    "212222 222122 222221 121223 121322 131222 122213 122312 132212 221213 221312 231212 112232 122132 122231 113222 "
    "123122 123221 223211 221132 221231 213212 223112 312131 311222 321122 321221 312212 322112 322211 212123 212321 "
    "232121 111323 131123 131321 112313 132113 132311 211313 231113 231311 112133 112331 132131 113123 113321 133121 "
    "313121 211331 231131 213113 213311 213131 311123 311321 331121 312113 312311 332111 314111 221411 431111 111224 "
    "111422 121124 121421 141122 141221 112214 112412 122114 122411 142112 142211 241211 221114 413111 241112 134111 "
    "111242 121142 121241 114212 124112 124211 411212 421112 421211 212141 214121 412121 111143 111341 131141 114113 "
    "114311 411113 411311 113141 114131 311141 411131 211412 211214 211232 2331112"
)
_PATTERNS = _WIDTHS.split()


def bar_widths(text: str) -> list[int] | None:
    """Return the widths of the bars and the spaces between them, in modules, beginning with a bar.

    Returns None for text that has other characters than printable ASCII.
    """
    if not text or not all(_FIRST <= character <= _LAST for character in text):
        return None
    values = [ord(character) - ord(_FIRST) for character in text]
    check = (_START_B + sum(place * value for place, value in enumerate(values, start=1))) % _MODULUS
    return [int(width) for value in (_START_B, *values, check, _STOP) for width in _PATTERNS[value]]
