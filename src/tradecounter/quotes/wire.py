"""Quotes as customers and the reseller have them, and the requests about one (specification, section 2).

Errors of the use cases name a field of a request by its place there: `items[0].sku`.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.kit.clock import local_text
from tradecounter.kit.numbers import Percent, Pounds
from tradecounter.kit.wire import LocalDateTime, Moment, Timed, made_from
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.present import created_order
from tradecounter.orders.reseller_wire import ResellerShippingOption
from tradecounter.orders.states import AnyOrder, pricing_of, quote_status
from tradecounter.orders.wire import CreatedOrder


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


class Quote(CreatedOrder, omit_defaults=True, kw_only=True):
    """A quote as created, with support's prices once it is priced."""

    status: Annotated[
        str,
        Meta(
            description="`Waiting` for support's price; `Priced`: can be confirmed until `expires_on`; `Expired`; "
            "`Declined` by you or by support; `Ordered`: confirmed as `order_reference`. New values may be added.",
            examples=["Priced"],
        ),
    ]
    expires_on: Annotated[LocalDateTime | None, Meta(description="Set once priced.")] = None


class DeclineQuoteRequest(Struct):
    """Why you do not want the quote."""

    reason: Annotated[str, Meta(description="Support reads it; it may be left out.")] = ""


def quote_on_the_wire(quote: AnyOrder, lines: Sequence[OrderLine], now: datetime) -> Quote:
    """Return the response for a quote in any state; `now` decides whether the quote has expired."""
    pricing = pricing_of(quote)
    return made_from(
        created_order(quote, lines),
        Quote,
        status=quote_status(quote, now),
        expires_on=None if pricing is None else local_text(pricing.expires_at),
    )


class Margin(Struct, frozen=True):
    """What remains of the goods' net price after what the reseller pays for them; `percent` is of the net price."""

    net: Decimal
    purchase: Decimal
    margin: Decimal
    percent: Decimal | None


class ResellerQuote(Timed, CreatedOrder, omit_defaults=True, kw_only=True):
    """A quote of any customer."""

    customer_id: Annotated[int, Meta(description="The customer's id.")]
    status: Annotated[
        str, Meta(description="`Waiting`, `Priced`, `Expired`, `Declined` or `Ordered`.", examples=["Priced"])
    ]
    shipping_method: ResellerShippingOption | None = None  # times are in UTC here
    shipping_options: list[ResellerShippingOption]  # type: ignore[assignment]
    created_at: Moment
    priced_at: Moment | None = None
    expires_at: Moment | None = None
    note: Annotated[str | None, Meta(description="Support's note to the customer.")] = None
    margin: Annotated[Margin | None, Meta(description="Absent while the purchase cost of a product is not known.")] = (
        None
    )
