"""What is due by age: the last day of each age belongs to it."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from tradecounter.billing.account_statement import ageing_of
from tradecounter.billing.queries.ledger import InvoiceBalance


@pytest.mark.parametrize(
    ("late", "age"),
    [
        (-1, "not_due"), (0, "not_due"), (1, "days_1_30"), (30, "days_1_30"), (31, "days_31_60"), (60, "days_31_60"),
        (61, "days_61_90"), (90, "days_61_90"), (91, "over_90"), (1000, "over_90"),
    ],
)  # fmt: skip
def test_the_age_of_what_is_due(late: int, age: str) -> None:
    due_at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    found = ageing_of([InvoiceBalance(1, 1, Decimal(5), due_at)], date(2026, 3, 1) + timedelta(days=late))
    assert {name: getattr(found, name) for name in found.__struct_fields__ if getattr(found, name)} == {age: 5}


def test_a_day_is_a_day_in_the_uk() -> None:
    due_at = datetime(2026, 6, 1, 23, 30, tzinfo=UTC)
    assert ageing_of([InvoiceBalance(1, 1, Decimal(5), due_at)], date(2026, 6, 2)).not_due == 5
