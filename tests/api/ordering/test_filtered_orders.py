"""`GET /order` filtered by customer reference, status and time (specification, orders asked for)."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from support.error_bodies import error_body
from support.orders import at, buy, cancel, create, dispatch, sell, uk
from support.service import MORNING, Customer, Service

DAY = timedelta(days=1)
NEWEST_FIRST = ["PO-10", "ÄB 7", "PO-2", " PO-1 ", "po-1", "PO-1"]


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    """A customer with six orders, a day apart: every second one is back-ordered, the oldest is dispatched.

    A pending order, a cancelled order and another customer's order also have the reference PO-1.
    """
    customer = shop.customer()
    scarce = sell(shop, "FILTERED-SCARCE")
    placed = []
    for day, reference in enumerate(reversed(NEWEST_FIRST)):
        with at(shop, MORNING + day * DAY):
            placed.append(buy(customer, [(scarce if day % 2 else "PHONE", 1)], customer_reference=reference))
    with at(shop, MORNING + 6 * DAY):
        dispatch(shop, placed[0])
        create(customer, customer_reference="PO-1")
        cancel(shop, buy(customer, customer_reference="PO-1"))
        buy(shop.customer(), customer_reference="PO-1")
    return customer


def found(customer: Customer, **params: Any) -> list[str]:
    response = customer.get("/order", params=params)
    assert response.status_code == 200, response.text
    listed = [order["customer_reference"] for order in response.json()]
    assert response.headers["X-Total-Count"] == str(len(listed))
    assert "X-Ignored" not in response.headers
    return listed


@pytest.mark.spec("4 GET /order", "by reference, status and time (an addition)")
@pytest.mark.parametrize("reference", ["PO-1", "po-1", "  pO-1\t"])
def test_a_reference_matches_in_any_case_and_with_white_space_around_it(customer: Customer, reference: str) -> None:
    assert found(customer, customer_reference=reference) == [" PO-1 ", "po-1", "PO-1"]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [("PO-10", ["PO-10"]), ("ÄB 7", ["ÄB 7"]), ("PO", []), ("PO-1%", []), ("PO_1", []), ("x" * 100, []), (" ", [])],
)
def test_a_reference_matches_as_a_whole(customer: Customer, reference: str, expected: list[str]) -> None:
    assert found(customer, customer_reference=reference) == expected


@pytest.mark.spec("4 GET /order", "by reference, status and time (an addition)")
@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("Back-ordered", ["PO-10", "PO-2", "po-1"]),
        ("BACK-ORDERED", ["PO-10", "PO-2", "po-1"]),
        (" awaiting dispatch ", ["ÄB 7", " PO-1 "]),
        ("Dispatched", ["PO-1"]),
        ("Cancelled", []),
        ("pending", []),
        ("no such status", []),
        ("Back%", []),
    ],
)
def test_a_status_matches_in_any_case_and_an_unknown_status_finds_nothing(
    customer: Customer, status: str, expected: list[str]
) -> None:
    assert found(customer, status=status) == expected


@pytest.mark.spec("4 GET /order", "by reference, status and time (an addition)")
@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        ("2026-06-20T09:00:00", None, ["PO-10", "ÄB 7"]),
        ("2026-06-20T09:00:01", None, ["PO-10"]),
        (None, "2026-06-17T09:00:00", ["po-1", "PO-1"]),
        (None, "2026-06-17T08:59:59", ["PO-1"]),
        ("2026-06-17T09:00:00", "2026-06-18T09:00:00", [" PO-1 ", "po-1"]),
        ("2026-06-18T09:00:00", "2026-06-17T09:00:00", []),
        ("0001-01-01T00:00:00", "9999-12-31T23:59:59", NEWEST_FIRST),
    ],
)
def test_a_time_range_includes_both_ends(
    customer: Customer, since: str | None, until: str | None, expected: list[str]
) -> None:
    range_ = {name: text for name, text in (("created_from", since), ("created_to", until)) if text is not None}
    assert found(customer, **range_) == expected


def test_a_range_of_one_second_finds_the_order_created_in_it(shop: Service) -> None:
    customer = shop.customer()
    with at(shop, MORNING + timedelta(seconds=3, microseconds=999_999)):
        buy(customer)
    [created_on] = [order["created_on"] for order in customer.get("/order").json()]
    assert created_on == "2026-06-16T09:00:03"
    assert len(found(customer, created_from=created_on, created_to=created_on)) == 1
    assert found(customer, created_from="2026-06-16T09:00:04") == []
    assert found(customer, created_to="2026-06-16T09:00:02") == []


def test_a_range_includes_both_passes_of_a_repeated_hour(shop: Service) -> None:
    customer = shop.customer()
    for moment, reference in (
        (uk(2026, 10, 25, 1, 30), "in summer time"),
        (datetime.fromisoformat("2026-10-25T01:30:00+00:00"), "in winter time"),
        (uk(2026, 10, 25, 2), "after"),
    ):
        with at(shop, moment):
            buy(customer, customer_reference=reference)
    both = found(customer, created_from="2026-10-25T01:30:00", created_to="2026-10-25T01:30:00")
    assert both == ["in winter time", "in summer time"]


def test_all_filters_apply_together_and_pages_count_the_matches(customer: Customer) -> None:
    params = {"customer_reference": "po-1", "status": "back-ordered", "created_from": "2026-06-17T00:00:00"}
    assert found(customer, **params) == ["po-1"]
    assert found(customer, **{**params, "created_to": "2026-06-17T00:00:00"}) == []

    response = customer.get("/order", params={"status": "Back-ordered", "limit": 2, "page": 2})
    assert [order["customer_reference"] for order in response.json()] == ["po-1"]
    assert (response.headers["X-Total-Count"], response.headers["X-Total-Pages"]) == ("3", "2")
    before = customer.get(response.links["prev"]["url"])
    assert [order["customer_reference"] for order in before.json()] == ["PO-10", "PO-2"]


def test_the_filters_work_in_csv_and_without_pages(customer: Customer) -> None:
    params = {"status": "Back-ordered", "limit": 0}
    assert len(customer.get("/order", params=params, headers={"Accept": "text/csv"}).text.splitlines()) == 4
    assert found(customer, **params) == ["PO-10", "PO-2", "po-1"]


def test_an_empty_filter_is_ignored(customer: Customer) -> None:
    assert found(customer, customer_reference="", status="", created_from="", created_to="") == NEWEST_FIRST


@pytest.mark.spec("4 GET /order", "by reference, status and time (an addition)")
@pytest.mark.parametrize("name", ["created_from", "created_to"])
@pytest.mark.parametrize(
    "text",
    [
        "yesterday", "2026-06-16", "2026-06-16T09:00", "2026-06-16 09:00:00", "2026-06-16T09:00:00Z",
        "2026-06-16T09:00:00+01:00", "2026-06-16T09:00:00.5", "2026-02-30T00:00:00", "2026-06-16T24:00:00",
        "0000-01-01T00:00:00", "2026-06-16T09:00:00\n", "٢٠٢٦-06-16T09:00:00", "20260616T090000", "\x00",
    ],
)  # fmt: skip
def test_an_invalid_local_time_is_rejected_with_the_parameters_name(customer: Customer, name: str, text: str) -> None:
    response = customer.get("/order", params={name: text})
    problem = f"must be a UK local time such as 2026-03-02T17:30:00, not {text!r}"
    assert (response.status_code, response.json()) == (
        400,
        error_body("invalid", f"{name}: {problem}", **{name: problem}),
    )


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"customer_reference": "a\x00"}, "customer_reference: must not contain a NUL character"),
        ({"status": "\x00"}, "status: must not contain a NUL character"),
        ({"customer_reference": "x" * 101}, "customer_reference: must have at most 100 characters"),
        ({"status": "x" * 101}, "status: must have at most 100 characters"),
        ({"status": ["Dispatched", "Invoiced"]}, "status: is given more than once"),
    ],
)
def test_an_invalid_filter_is_rejected_with_the_parameters_name(
    customer: Customer, params: dict[str, Any], problem: str
) -> None:
    response = customer.get("/order", params=params)
    assert (response.status_code, response.json()["message"]) == (400, problem)


def test_all_bad_times_are_listed_together(customer: Customer) -> None:
    response = customer.get("/order", params={"created_from": "x", "created_to": "y", "status": "\x00"})
    assert response.status_code == 400
    assert [fault["field"] for fault in response.json()["errors"]] == ["status", "created_from", "created_to"]
