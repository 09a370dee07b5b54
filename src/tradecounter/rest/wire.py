"""Field types that all slices use (specification, section 1)."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated

from msgspec import Meta

LocalDateTime = Annotated[
    str,
    Meta(
        pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$",
        description="UK local time without an offset.",
        examples=["2026-03-02T17:30:00"],
    ),
]
Moment = Annotated[datetime, Meta(tz=True)]  # in UTC; without `tz`, its schema would be any string
Amount = Annotated[Decimal, Meta(description="Pounds, two decimal places.", examples=[42.5])]
