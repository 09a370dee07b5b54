"""Returns as the reseller sees them, and what support asks for them."""

from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.kit.wire import Moment, Timed, made_from
from tradecounter.orders.lines import ItemId, NamedUnits
from tradecounter.orders.wire import MOST_UNITS
from tradecounter.returns.queries import ReturnedLine, ReturnState, StoredReturn

RETURN_PREFIX = "RMA-"


class ReturnItem(Struct, frozen=True):
    """The units of an item that come back."""

    id: Annotated[int, Meta(description="The id of the order's item.")]
    sku: str
    quantity: Annotated[int, Meta(description="The units that the customer may send back.")]
    received: Annotated[int, Meta(description="The units that came back, restocked or scrapped.")]
    restocked: Annotated[int, Meta(description="The units that are for sale again.")]
    scrapped: Annotated[int, Meta(description="The units that are not for sale again.")]
    serial_numbers: list[str]
    credited: Annotated[
        int, Meta(description="The received units that are credited, or had not been invoiced when they came back.")
    ] = 0


class Return(Timed, Struct, frozen=True):
    """A return of an order's units."""

    number: Annotated[str, Meta(examples=["RMA-1001"])]
    order_reference: str
    customer_id: int
    state: ReturnState
    reason: str
    opened_at: Moment
    received_at: Moment | None
    closed_at: Moment | None
    items: list[ReturnItem]


def return_number(return_id: int) -> str:
    """Return the number of a return."""
    return f"{RETURN_PREFIX}{return_id}"


def return_on_the_wire(stored_return: StoredReturn, lines: list[ReturnedLine]) -> Return:
    """Return a stored return with its lines."""
    items = [made_from(line, ReturnItem, id=line.line_id) for line in lines]
    return made_from(stored_return, Return, number=return_number(stored_return.id), items=items)


UnitsOrZero = Annotated[int, Meta(ge=0, le=MOST_UNITS)]


class ReturnedUnits(NamedUnits):
    """Dispatched units of a line that come back."""

    serial_numbers: list[str] = []  # noqa: RUF012 msgspec copies it


class ReturnRequest(Struct):
    """A return to open."""

    items: Annotated[list[ReturnedUnits], Meta(description="Dispatched units that come back.")]
    reason: Annotated[str, Meta(description="The reason of the return.")]


class ReceivedUnits(Struct):
    """Units of a line that came back."""

    id: ItemId
    restock: Annotated[UnitsOrZero, Meta(description="Units to sell again.")] = 0
    scrap: Annotated[UnitsOrZero, Meta(description="Units to write off.")] = 0


class Receipt(Struct):
    """What came back of a return."""

    items: list[ReceivedUnits]
    credit: Annotated[bool, Meta(description="Credit the invoiced units that came back and are not credited yet.")] = (
        False
    )
