"""The reseller's settings for orders."""

from datetime import timedelta
from decimal import Decimal
from typing import Self

from msgspec import Struct

from tradecounter.orders.states import OrderKind
from tradecounter.settings import Settings


class OrderingPolicy(Struct, frozen=True, kw_only=True):
    """Lifetimes, caps, VAT in per cent, and the prefixes of order references."""

    pending_lifetime: timedelta
    quote_lifetime: timedelta
    max_pending_orders: int
    max_unpriced_quotes: int
    vat_rate: Decimal
    own_brand_prefix: str
    plain_prefix: str

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the policy of the settings."""
        return cls(
            pending_lifetime=settings.pending_order_lifetime,
            quote_lifetime=settings.quote_lifetime,
            max_pending_orders=settings.max_pending_orders,
            max_unpriced_quotes=settings.max_unpriced_quotes,
            vat_rate=settings.vat_rate,
            own_brand_prefix=settings.own_brand_prefix,
            plain_prefix=settings.plain_prefix,
        )

    def most_pending(self, kind: OrderKind) -> int:
        """Return the cap on a customer's pending orders, or on its unpriced quotes."""
        return self.max_pending_orders if kind == "order" else self.max_unpriced_quotes
