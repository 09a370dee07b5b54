"""What the reseller has settled about orders (settings)."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Self

from tradecounter.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderingPolicy:
    """Lifetimes, VAT in per cent, and the prefixes of order references."""

    pending_lifetime: timedelta
    quote_lifetime: timedelta
    vat_rate: Decimal
    own_brand_prefix: str
    plain_prefix: str

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the policy that the settings state."""
        return cls(
            pending_lifetime=settings.pending_order_lifetime,
            quote_lifetime=settings.quote_lifetime,
            vat_rate=settings.vat_rate,
            own_brand_prefix=settings.own_brand_prefix,
            plain_prefix=settings.plain_prefix,
        )
