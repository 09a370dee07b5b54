"""Dates in the filters of the API are UK days, as on pages and in commands."""

import httpx2
import pytest

from support.backoffice import BackOfficeSite
from support.billing import invoiced
from support.orders import at, uk

HALF_PAST_MIDNIGHT = uk(2026, 6, 16, 0, 30)  # 23:30 on the day before in UTC


@pytest.fixture(scope="module")
def lists(office: BackOfficeSite) -> list[str]:
    """Lists that have what was done half an hour after midnight, with the names of their first and last time."""
    customer = office.service.customer()
    with at(office.service, HALF_PAST_MIDNIGHT):
        placed = invoiced(office.service, customer)
    return [
        f"/api/invoice?customer_id={customer.id}&issued_from={{}}&issued_to={{}}",
        f"/api/order?customer_id={customer.id}&created_from={{}}&created_to={{}}",
        f"/api/audit?subject={placed['order_reference']}&action=order.confirm&from={{}}&to={{}}",
    ]


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("2026-06-16", "2026-06-16", 1),
        ("2026-06-15", "2026-06-15", 0),
        ("2026-06-15T23:30:00", "2026-06-15T23:30:01", 1),  # without an offset, in UTC
        ("2026-06-15T23:30:00Z", "2026-06-16", 1),
        ("2026-06-16T00:30:00+01:00", "2026-06-16T00:30:00+01:00", 0),  # the end is not included
    ],
)
def test_a_date_is_a_uk_day_and_a_time_is_in_utc(
    staff: httpx2.Client, lists: list[str], first: str, last: str, expected: int
) -> None:
    for path in lists:
        response = staff.get(path.format(first.replace("+", "%2B"), last.replace("+", "%2B")))
        assert response.status_code == 200, response.text
        assert len(response.json()) == expected, path


def test_the_last_day_of_the_calendar_has_no_end(staff: httpx2.Client, lists: list[str]) -> None:
    for path in lists:
        assert staff.get(path.format("2026-06-16", "9999-12-31")).status_code == 400
