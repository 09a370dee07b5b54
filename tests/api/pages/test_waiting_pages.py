"""Customers and staff read why an order has not left, in the same sentences."""

import pytest

from support.backoffice import BackOfficeSite
from support.orders import amend, buy, cancel, create, dispatch, rows, sell
from support.pages import Person, customer_user, staff_member, text_of
from support.service import Customer, Service
from support.shop import STANDARD

LIST = "/account/order"


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer(trade_account=True)


@pytest.fixture
def sam(office: BackOfficeSite) -> Person:
    return staff_member(office.service, office.url, "support", name="Sam Staff")


def expect(shop: Service, sku: str, units: int, day: str) -> None:
    shop.must_load("incoming", [{"sku": sku, "incoming": units, "expected_on": day}])


def test_both_sites_say_the_same_of_an_order_that_waits(shop: Service, customer: Customer, sam: Person) -> None:
    first, late = sell(shop, "LATE-1", 10), sell(shop, "LATE-2", 10, available=1)
    ready = sell(shop, "READY-1", 10, available=9)
    expect(shop, first, 50, "2026-07-06")
    buy(shop.customer(), [(first, 7)])
    placed = buy(customer, [(first, 5), (late, 2), (ready, 1)])
    path = f"/order/{placed['order_reference']}"
    own, staff = text_of(customer_user(shop, customer.id).get(f"/account{path}")), text_of(sam.get(path))
    for sentence in (
        "All 5 wait for stock: 50 are expected on 6 Jul 2026, after 7 for earlier orders.",
        "1 of 2 wait for stock. No delivery is expected yet. 1 is reserved and ready.",
        "Reserved. It waits to leave with LATE-1, LATE-2",
    ):
        assert sentence in own, sentence
        assert sentence in staff, sentence


def test_lists_say_shortly_what_an_order_waits_for(shop: Service, customer: Customer) -> None:
    late = sell(shop, "LATE-3", 10)
    expect(shop, late, 50, "2026-07-06")
    buyer = customer_user(shop, customer.id)
    buy(customer, [(late, 5)])
    gone = buy(customer, [("CABLE", 1)])
    dispatch(shop, gone)
    for path in (LIST, "/account"):
        said = text_of(buyer.get(path))
        assert "Waits for stock, 6 Jul 2026" in said, path
        assert said.count("Waits for stock") == 1, path


def test_a_customer_who_may_not_see_deliveries_is_not_told_of_them(shop: Service) -> None:
    customer = shop.customer(trade_account=False)
    late = sell(shop, "LATE-4", 10)
    expect(shop, late, 77, "2026-07-06")
    placed = buy(customer, [(late, 5)])
    said = text_of(customer_user(shop, customer.id).get(f"{LIST}/{placed['order_reference']}"))
    assert "All 5 wait for stock." in said
    assert "77" not in said


def test_an_order_that_is_not_confirmed_waits_for_approval_credit_or_its_buyer(
    shop: Service, customer: Customer, sam: Person
) -> None:
    asking = customer_user(shop, customer.id, "buyer")
    rows(shop, "update customer_user set order_limit = 1 where id = %s returning id", asking.id)
    code = create(customer, [("PHONE", 1)])["confirmation_code"]
    assert "Waits to be confirmed" in text_of(asking.get(f"{LIST}/unconfirmed"))
    assert "It waits to be confirmed, until" in text_of(sam.get(f"/order/{code}"))
    asking.send(f"/account/new-order/{code}/approval", {"shipping_method": str(STANDARD)})
    assert "Waits for approval" in text_of(asking.get(f"{LIST}/unconfirmed"))
    assert "It waits for approval since" in text_of(sam.get(f"/order/{code}"))
    assert "It waits for approval since" in text_of(asking.get(f"/account/new-order/{code}"))
    poor = shop.customer(credit="100")
    create(poor, [("PHONE", 1)])
    rows(shop, "update customer set credit_limit = 1 where id = %s returning id", poor.id)
    assert "of credit" in text_of(customer_user(shop, poor.id).get(f"{LIST}/unconfirmed"))


def test_more_orders_than_are_shown_wait_for_approval(
    shop: Service, customer: Customer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("approvals.queries", "approvals.pages.account", "today.pages.account"):
        monkeypatch.setattr(f"tradecounter.{module}.MOST", 6)
    owner, approval = customer_user(shop, customer.id), "/account/approval"
    for number in range(7):
        assert "These are the latest" not in text_of(owner.get(approval)) or number == 6
        code = create(customer, customer_reference=f"PO-WAITS-{number}")["confirmation_code"]
        owner.sends(f"/account/new-order/{code}/approval", {"shipping_method": str(STANDARD)})
    assert "All 6+ orders to approve" in text_of(owner.get("/account"))
    assert text_of(owner.get(f"{LIST}/unconfirmed")).count("Waits for approval") == 7
    shown = text_of(owner.get(approval))
    assert ("PO-WAITS-0" in shown, "These are the latest 6." in shown) == (False, True)


def test_a_timeline_tells_in_sentences_what_happened_to_an_order(shop: Service, customer: Customer) -> None:
    buyer = customer_user(shop, customer.id)
    placed = buy(customer, [("PHONE", 2), ("CABLE", 1)])
    dispatch(shop, placed, tracking_number="TRACK-7")
    buyer.send(f"{LIST}/{placed['order_reference']}/ask/message", {"text": "Did it leave?"})
    said = text_of(buyer.get(f"{LIST}/{placed['order_reference']}"))
    happened = said[said.index("What happened") :]
    steps = ["Your company placed the order.", "3 units left with", "tracking number TRACK-7", "You wrote to us."]
    places = [happened.index(step) for step in steps]
    assert places == sorted(places)


def test_a_timeline_has_cancelled_parts_and_amendments(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 5), ("CABLE", 1)])
    phones = placed["items"][0]["id"]
    cancel(shop, placed, "Out of production", (phones, 2))
    amend(shop, placed, items=[{"id": phones, "quantity": 2}], reason="As agreed by phone")
    cancel(shop, placed, "One too many", (phones, 1))
    said = text_of(customer_user(shop, customer.id).get(f"{LIST}/{placed['order_reference']}"))
    happened = said[said.index("What happened") :]
    steps = [
        "Your company placed the order.",
        "2 units were cancelled. Out of production",
        "The order was changed. As agreed by phone",
        "1 unit was cancelled. One too many",
    ]
    places = [happened.index(step) for step in steps]
    assert places == sorted(places)
