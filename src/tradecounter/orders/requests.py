"""What support asks for orders of any customer: the bodies of the API, which pages and commands make too.

Errors of the use cases name a field by its place in these: `items[0].quantity`.
"""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.orders.units import NamedUnits


class Cancellation(Struct):
    """What is cancelled, and why."""

    reason: Annotated[str, Meta(description="The reason, which is sent to the customer and stored with the order.")]
    items: Annotated[
        list[NamedUnits] | UnsetType, Meta(description="Undispatched units; without it, all that are left.")
    ] = UNSET


class NoteRequest(Struct):
    """A note on an order, which the customer does not see."""

    text: str
