"""Examples of quotes for the back office's interface document."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal

from msgspec import structs

from tradecounter.edge.operations.subject import Described
from tradecounter.orders import examples as ordering
from tradecounter.orders import reseller_wire as orders
from tradecounter.quotes import requests as asked
from tradecounter.quotes.margin import Margin
from tradecounter.quotes.reseller_wire import ResellerQuote

_AT = datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC)
_OPTION = orders.ResellerShippingOption(
    id=101,
    provider="Northway Parcels",
    description="UK mainland next working day",
    cost_net=Decimal("7.04"),
    expected_dispatch_date=_AT.replace(hour=16),
    expected_arrival_date=_AT.replace(day=17),
    total_gross=Decimal("554.93"),
)

_QUOTE = ResellerQuote(
    **structs.asdict(ordering.PENDING_ORDER) | {"shipping_options": [_OPTION]},
    status="Priced",
    customer_id=1001,
    created_at=_AT,
    priced_at=_AT,
    expires_at=_AT.replace(day=23),
    note="With our thanks.",
    margin=Margin(Decimal("435.00"), Decimal("360.00"), Decimal("75.00"), Decimal("17.24")),
)

_QUOTE_PRICE = asked.QuotePrice(
    [asked.QuotedItem("CV-320P", Decimal("72.50"))],
    [asked.QuotedShipping(101, Decimal("0.00"))],
    "With our thanks.",
)


DESCRIBED: Mapping[type, Described] = {
    ResellerQuote: Described("The quote.", _QUOTE, "Quote"),
    asked.QuotePrice: Described("", _QUOTE_PRICE),
    asked.Declination: Described("", asked.Declination("The product is no longer made.")),
}
