"""The orders of a sandbox live by themselves, and a customer's reference steers them."""

from collections.abc import Iterator, Sequence
from typing import Any

import httpx2
import pytest

from support.backoffice import backoffice_of
from support.cluster import Cluster
from support.events import events
from support.orders import buy, confirm, create, dispatch, faults_in_the_books, level, read, sell
from support.quotes import request_quote
from support.sandbox import PACE, live, living, running_sandbox
from support.service import Customer, Service
from support.shop import ADDRESS
from tradecounter.sandbox.queries import living_orders
from tradecounter.sites.schedule import sandbox_jobs

pytestmark = pytest.mark.sweep  # seconds for each of its stories

TWO_LINES = (("PHONE", 2), ("CABLE", 3))


@pytest.fixture
def sandbox(postgres: Cluster) -> Iterator[Service]:
    with postgres.database() as url, running_sandbox(url) as service:
        yield service


@pytest.fixture
def customer(sandbox: Service) -> Customer:
    return sandbox.customer()


def status(customer: Customer, placed: dict[str, Any]) -> str:
    return str(read(customer, placed)["status"])


def happened(sandbox: Service, customer: Customer) -> list[str]:
    return [event["type"].partition(".")[2] for event in events(sandbox, customer)]


def test_an_order_is_dispatched_in_two_parcels_tracked_invoiced_and_paid(sandbox: Service, customer: Customer) -> None:
    placed = buy(customer, TWO_LINES)
    assert live(sandbox, 0.5) == 0
    seen = [status(customer, placed)]
    for _ in range(7):
        live(sandbox)
        seen.append(status(customer, placed))
    dispatched = ["Dispatched"] * 3
    assert seen == ["Awaiting dispatch", "Part dispatched", *dispatched, "Invoiced", "Completed", "Completed"]
    shipping = read(customer, placed)["shipping"]
    assert len({parcel["tracking_number"] for parcel in shipping}) == 2
    assert {parcel["last_tracking_status"] for parcel in shipping} == {"Delivered"}
    assert happened(sandbox, customer) == [
        "confirmed", "dispatched", "dispatched", *["tracking_updated"] * 4, "issued", "recorded"
    ]  # fmt: skip
    assert live(sandbox) == 0


@pytest.mark.parametrize(("numbers", "reports"), [((None, None), 0), (("T-1", "T-1"), 2), (("T-1", None), 2)])
def test_parcels_that_people_dispatch_are_reported_by_their_numbers_until_they_arrive(
    sandbox: Service, customer: Customer, numbers: Sequence[str | None], reports: int
) -> None:
    placed = buy(customer, [("PHONE", 2)])
    for number in numbers:
        dispatch(sandbox, placed, (placed["items"][0]["id"], 1), tracking_number=number)
    for _ in range(reports + 2):
        live(sandbox)
    assert status(customer, placed) == "Completed"
    assert happened(sandbox, customer).count("tracking_updated") == reports


def test_each_wish_of_a_reference_is_granted(sandbox: Service, customer: Customer) -> None:
    placed = {wish: buy(customer, customer_reference=f"PO 7 SANDBOX-{wish}") for wish in ("cancel", "slow", "unpaid")}
    live(sandbox)
    assert customer.get(f"/order/{placed['cancel']['order_id']}").json()["status"] == "Cancelled"
    assert status(customer, placed["slow"]) == "Awaiting dispatch"
    for _ in range(6):
        live(sandbox)
    assert status(customer, placed["unpaid"]) == "Invoiced"
    assert live(sandbox, 3) == 1
    assert status(customer, placed["slow"]) == "Dispatched"


def test_an_order_waits_for_stock_and_is_supplied(sandbox: Service, customer: Customer) -> None:
    sku = sell(sandbox, "SCARCE", available=5)
    placed = buy(customer, [(sku, 2)], customer_reference="sandbox-back-order")
    assert live(sandbox) == 1
    assert (status(customer, placed), live(sandbox, 0.5)) == ("Back-ordered", 0)
    live(sandbox, 2)
    live(sandbox)
    assert status(customer, placed) == "Dispatched"
    assert level(sandbox, sku) == (5, 0, 0)


def test_what_is_out_of_stock_is_delivered_after_three_steps(sandbox: Service, customer: Customer) -> None:
    placed = buy(customer, [(sell(sandbox, "NONE"), 2)])
    assert [live(sandbox) for _ in range(2)] == [0, 0]
    live(sandbox)
    live(sandbox)
    assert status(customer, placed) == "Dispatched"


@pytest.mark.parametrize(("reference", "available"), [("sandbox-back-order", 2), ("PO-1", 0)])
def test_a_bundle_waits_for_its_own_stock_and_is_supplied(
    sandbox: Service, customer: Customer, reference: str, available: int
) -> None:
    sell(sandbox, "PART", available=5)
    kit = sell(sandbox, "KIT", available=available, components=[{"sku": "PART", "quantity": 2}])
    placed = buy(customer, [(kit, 2)], customer_reference=reference)
    live(sandbox)
    assert (status(customer, placed), level(sandbox, "PART")) == ("Back-ordered", (5, 0, 0))
    for _ in range(3):
        live(sandbox)
    assert (status(customer, placed), level(sandbox, "PART")) == ("Dispatched", (5, 0, 0))
    assert faults_in_the_books(sandbox) == {}


def test_a_quote_is_priced_after_a_step_or_declined(sandbox: Service, customer: Customer) -> None:
    priced, declined = request_quote(customer), request_quote(customer, customer_reference="sandbox-cancel")
    assert live(sandbox) == 2
    assert customer.get(f"/quote/{priced['confirmation_code']}").json()["status"] == "Priced"
    assert "declined" in happened(sandbox, customer)
    confirmed = confirm(customer, priced)
    assert confirmed.status_code == 200, confirmed.text
    assert confirm(customer, declined).status_code == 410


def test_what_cannot_go_on_holds_nothing_up(sandbox: Service, customer: Customer) -> None:
    nowhere = {**ADDRESS, "city": "Oslo", "zip": "0150", "country_code": "NO"}
    stuck, placed = request_quote(customer, shipping_address=nowhere), buy(customer)
    assert live(sandbox) == 1
    assert status(customer, placed) == "Dispatched"
    assert customer.get(f"/quote/{stuck['confirmation_code']}").json()["status"] == "Waiting"


def test_a_pass_goes_on_where_the_last_one_ended(
    sandbox: Service, customer: Customer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tradecounter.sandbox.live.MOST", 1)
    nowhere = {**ADDRESS, "city": "Oslo", "zip": "0150", "country_code": "NO"}
    request_quote(customer, shipping_address=nowhere)
    buy(customer)
    buy(customer)
    with living(sandbox) as one_pass:
        assert [one_pass() for _ in range(5)] == [0, 1, 1, 0, 0]


def test_an_order_that_stays_unpaid_is_not_looked_at_again(sandbox: Service, customer: Customer) -> None:
    buy(customer, customer_reference="PO 8 sandbox-unpaid")
    for _ in range(6):
        live(sandbox)
    looked = sandbox.in_transaction(lambda tx: living_orders(tx, sandbox.clock.now() + PACE, PACE, 0, 9))
    assert looked == []


def test_pending_orders_are_left_to_the_customer(sandbox: Service, customer: Customer) -> None:
    create(customer)
    assert live(sandbox) == 0


def test_nothing_lives_outside_of_a_sandbox(shop: Service) -> None:
    assert sandbox_jobs(shop.settings, shop.commands) == ()


def test_the_sandbox_cannot_be_mistaken(sandbox: Service, customer: Customer) -> None:
    assert (customer.key[:4], len(customer.key)) == ("sbx_", 64)
    answers = [
        customer.get("/product"),
        customer.get("/product"),
        customer.get("/nothing"),
        sandbox.client().get("/order"),
        httpx2.post(f"{sandbox.url}/mcp"),
    ]
    assert [answer.headers.get("X-Sandbox") for answer in answers] == ["true"] * 5
    with backoffice_of(sandbox) as office:
        pages = [f"{office.url}/sign-in", f"{office.url}/api/docs"]
        for page in [*pages, *(f"{sandbox.url}/{name}" for name in ("docs", "guide", "changelog", "account/sign-in"))]:
            shown = httpx2.get(page)
            assert shown.headers["X-Sandbox"] == "true"
            assert "nothing is dispatched" in shown.text


def test_the_documentation_of_the_live_site_warns_of_nothing(shop: Service) -> None:
    assert "nothing is dispatched" not in httpx2.get(f"{shop.url}/docs").text
