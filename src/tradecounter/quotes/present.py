"""Converts quotes to the resource of the API (specification, section 2)."""

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import asdict

from tradecounter.kit.local_time import local_text
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.present import created_order
from tradecounter.orders.states import AnyOrder, pricing_of, quote_status
from tradecounter.quotes.wire import Quote


def quote_on_the_wire(quote: AnyOrder, lines: Sequence[OrderLine], now: datetime) -> Quote:
    """Return the response for a quote in any state; `now` decides whether the quote has expired."""
    pricing = pricing_of(quote)
    return Quote(
        **asdict(created_order(quote, lines)),
        status=quote_status(quote, now),
        expires_on=None if pricing is None else local_text(pricing.expires_at),
    )
