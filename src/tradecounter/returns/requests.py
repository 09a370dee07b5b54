"""What support asks for returns."""

from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.orders.units import ItemId, NamedUnits
from tradecounter.orders.wire import MOST_UNITS

UnitsOrNone = Annotated[int, Meta(ge=0, le=MOST_UNITS)]


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
    restock: Annotated[UnitsOrNone, Meta(description="Units to sell again.")] = 0
    scrap: Annotated[UnitsOrNone, Meta(description="Units to write off.")] = 0


class Receipt(Struct):
    """What came back of a return."""

    items: list[ReceivedUnits]
    credit: Annotated[bool, Meta(description="Credit the invoiced units that came back and are not credited yet.")] = (
        False
    )
