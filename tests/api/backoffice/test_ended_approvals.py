"""A request for approval ends with its order, by whatever door the order is confirmed or cancelled."""

from collections.abc import Callable
from datetime import timedelta

import httpx2
import pytest

from support.approvals import asked
from support.orders import at, confirm, rows
from support.pages import customer_user
from support.quotes import price_as_support, request_quote
from support.service import Customer, Service
from support.shop import STANDARD
from tradecounter.orders.cancel_order import expire_orders

Door = Callable[[httpx2.Client, Customer, str], httpx2.Response]


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer()


def states(staff: httpx2.Client, customer: Customer, **query: str) -> dict[str, str]:
    found = staff.get("/api/approval", params={"customer_id": customer.id, **query}).json()
    return {each["confirmation_code"]: each["state"] for each in found}


@pytest.mark.parametrize(
    "door",
    [
        pytest.param(
            lambda staff, _, code: staff.post(f"/api/order/{code}/confirm", json={"shipping_method": {"id": STANDARD}}),
            id="confirmed by staff",
        ),
        pytest.param(
            lambda staff, _, code: staff.post(f"/api/order/{code}/cancel", json={"reason": "No"}),
            id="cancelled by staff",
        ),
        pytest.param(
            lambda _, customer, code: confirm(customer, {"confirmation_code": code}), id="confirmed by a program"
        ),
    ],
)
def test_a_request_ends_with_its_order(shop: Service, staff: httpx2.Client, customer: Customer, door: Door) -> None:
    code, buyer = asked(shop, customer)
    other, _ = asked(shop, customer)
    since = shop.clock.now() + timedelta(seconds=1)
    with at(shop, since):
        assert door(staff, customer, code).status_code == 200
    assert states(staff, customer) == {code: "ended", other: "waiting"}
    assert states(staff, customer, state="waiting") == {other: "waiting"}
    assert states(staff, customer, changed_since=since.isoformat()) == {code: "ended"}
    for step, body in (("approve", None), ("decline", {"reason": "Late"})):
        assert staff.post(f"/api/approval/{code}/{step}", json=body).status_code == 409
    assert states(staff, customer)[code] == "ended"
    approver = customer_user(shop, customer.id, "approver")
    page = approver.get(f"/account/approval/{code}").text
    assert f"{code}/decline" not in page
    assert f"{code}/approve" not in page
    assert code not in approver.get("/account/approval").text
    assert code in buyer.get("/account/approval").text


def test_a_request_for_a_quote_ends_when_it_expires_and_one_for_an_order_can_be_priced_again(
    shop: Service, staff: httpx2.Client, customer: Customer
) -> None:
    order, buyer = asked(shop, customer)
    quote = request_quote(customer, [("PHONE", 10)])
    code = quote["confirmation_code"]
    price_as_support(shop, quote, ("PHONE", "30.00"))
    buyer.sends(f"/account/new-order/{code}/approval", {"shipping_method": str(STANDARD)})
    with at(shop, shop.clock.now() + timedelta(days=30)):
        shop.in_transaction(lambda tx: expire_orders(tx, shop.clock.now()))
    assert states(staff, customer) == {code: "ended", order: "waiting"}
    assert staff.post(f"/api/approval/{order}/approve").status_code == 410


def test_a_request_for_a_quote_ends_at_the_moment_at_which_the_quote_expires(
    shop: Service, staff: httpx2.Client, customer: Customer
) -> None:
    quote = request_quote(customer, [("PHONE", 10)])
    code = quote["confirmation_code"]
    price_as_support(shop, quote, ("PHONE", "30.00"))
    customer_user(shop, customer.id, "buyer").sends(
        f"/account/new-order/{code}/approval", {"shipping_method": str(STANDARD)}
    )
    [(expires_at,)] = rows(shop, "select expires_at from orders where confirmation_code = %s", code)
    with at(shop, expires_at):
        assert states(staff, customer) == {code: "waiting"}
    with at(shop, expires_at + timedelta(seconds=1)):  # the worker has not seen it yet
        assert states(staff, customer, state="ended") == {code: "ended"}
        assert staff.get(f"/api/approval/{code}").json()["state"] == "ended"
        assert staff.post(f"/api/approval/{code}/approve").status_code == 409
        approver = customer_user(shop, customer.id, "approver")
        assert code not in approver.get("/account/approval").text
        assert f"{code}/decline" not in approver.get(f"/account/approval/{code}").text


def test_what_becomes_of_the_order_later_does_not_change_a_request_that_has_ended(
    shop: Service, staff: httpx2.Client, customer: Customer
) -> None:
    code, _ = asked(shop, customer)
    confirm(customer, {"confirmation_code": code})
    since = shop.clock.now() + timedelta(seconds=1)
    with at(shop, since):
        assert staff.post(f"/api/order/{code}/dispatch").status_code == 200
    assert states(staff, customer, changed_since=since.isoformat()) == {}
