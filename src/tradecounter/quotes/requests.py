"""What support asks for quotes of any customer: the bodies of the API, which pages and commands make too.

Errors of the use cases name a field by its place in these: `items[0].sku`.
"""

from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.kit.number_types import Percent, Pounds


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


class Declination(Struct):
    """Why a quote is declined."""

    reason: Annotated[str, Meta(description="The reason, which is sent to the customer and stored with the quote.")]
