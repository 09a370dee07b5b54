"""What is due of invoices by age, which is the number of days past the due date."""

from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Struct


class Ageing(Struct, frozen=True, kw_only=True):
    """What is due of invoices, by days past their due date."""

    not_due: Annotated[Decimal, Meta(description="Not yet due, in pounds.")]
    days_1_30: Annotated[Decimal, Meta(description="1 to 30 days overdue.")]
    days_31_60: Annotated[Decimal, Meta(description="31 to 60 days overdue.")]
    days_61_90: Annotated[Decimal, Meta(description="61 to 90 days overdue.")]
    over_90: Annotated[Decimal, Meta(description="More than 90 days overdue.")]


AGES = {
    "not_due": "Not due yet",
    "days_1_30": "1 to 30 days",
    "days_31_60": "31 to 60 days",
    "days_61_90": "61 to 90 days",
    "over_90": "Over 90 days",
}
LAST_DAYS = (0, 30, 60, 90)  # of each age but the last, which has no end
