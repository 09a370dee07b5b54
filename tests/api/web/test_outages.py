"""A database that hangs, is down for longer, or disconnects during a commit (specification, backend down)."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import httpx2
import pytest
from structlog.testing import capture_logs

from support.cluster import Cluster
from support.error_bodies import error_body
from support.orders import confirm, create, faults_in_the_books, in_parallel
from support.outage import database_away
from support.proxy import Link, linked
from support.service import Customer, Service, running_service
from support.shop import ADDRESS, order, stock_shop
from support.waiting import wait_for
from support.written import written

pytestmark = pytest.mark.long

AWAY = error_body("unavailable", "the service is temporarily unavailable; try again in 5 seconds")
LONGEST_WAIT = timedelta(seconds=8)  # 4 on an idle machine


@pytest.fixture
def link(database_url: str) -> Iterator[Link]:
    with linked(database_url) as found:
        yield found


@pytest.fixture
def shop(service: Service, link: Link) -> Iterator[Service]:
    """The API, connected to its database through the link, with a short polling interval."""
    with running_service(link.url, refresh_interval=timedelta(seconds=0.5)) as running:
        if not written(service)[0]:
            stock_shop(running)
        yield running


def is_away(response: httpx2.Response) -> bool:
    return (response.status_code, response.json()) == (503, AWAY) and response.headers["Retry-After"] == "5"


def calls_of(customer: Customer, pending: dict[str, object]) -> list[Callable[[], httpx2.Response]]:
    return [
        lambda: customer.get("/customer"),
        lambda: customer.get("/order"),
        lambda: customer.get("/customer/credit"),
        lambda: customer.post("/order", order()),
        lambda: customer.post("/customer/address", ADDRESS),
        lambda: customer.delete("/customer/address/1"),
        lambda: confirm(customer, pending),
    ]


@pytest.mark.spec("7 503", "also when the database hangs")
def test_a_hanging_database_is_a_503_within_seconds_and_the_service_recovers(
    service: Service, shop: Service, link: Link
) -> None:
    customer = shop.customer()
    shop.refresh()
    pending = create(customer)
    before = written(service)
    link.hang()
    assert customer.get("/product").status_code == 200  # cached, while the key is cached
    for response in in_parallel(calls_of(customer, pending)):
        assert is_away(response), response.text
        assert response.elapsed < LONGEST_WAIT
    wait_for(lambda: shop.client().get("/check-health").json()["database"] == "away")
    wait_for(lambda: customer.get("/product").status_code == 503)
    found = customer.get("/product")
    assert is_away(found)
    assert found.elapsed < LONGEST_WAIT
    assert written(service) == before
    link.resume()
    wait_for(lambda: customer.get("/customer").status_code == 200)
    wait_for(lambda: shop.client().get("/check-health").json()["database"] == "ok")
    assert customer.get("/product").status_code == 200
    assert confirm(customer, pending).status_code == 200
    assert faults_in_the_books(service) == {}


@pytest.mark.parametrize("committed", [False, True])
def test_an_interrupted_commit_is_a_503_and_leaves_all_or_nothing(
    service: Service, shop: Service, link: Link, committed: bool
) -> None:
    customer = shop.customer()
    shop.refresh()
    pending = create(customer)
    before = written(service)
    if committed:
        link.break_after = b"commit"
    else:
        link.break_before = b"commit"
    response = confirm(customer, pending)
    link.break_before = link.break_after = None
    assert (response.status_code, response.headers["Retry-After"]) == (503, "5")
    assert response.json()["message"].startswith("the change may have been carried out")
    assert (written(service) != before) == committed
    wait_for(lambda: customer.get("/customer").status_code == 200)
    again = confirm(customer, pending)
    assert again.status_code == 200
    assert customer.get(f"/order/{again.json()['order_id']}").status_code == 200
    assert len(customer.get("/order").json()) == 1
    assert faults_in_the_books(service) == {}


def test_cached_reads_are_503_while_the_database_is_down(service: Service, shop: Service, postgres: Cluster) -> None:
    customer = shop.customer()
    shop.refresh()
    tag = customer.get("/product").headers["ETag"]
    with capture_logs() as logs:
        with database_away(postgres, service.database_url):
            wait_for(lambda: customer.get("/product", headers={"If-None-Match": tag}).status_code == 503)
            for path in ("/product", "/product/PHONE", "/category", "/customer"):
                assert is_away(customer.get(path))
        wait_for(lambda: customer.get("/product", headers={"If-None-Match": tag}).status_code == 304)
        wait_for(lambda: customer.get("/customer").status_code == 200)
        wait_for(lambda: any(entry["event"] == "database back" and entry["away_seconds"] > 0 for entry in logs))
    shop.load("stock", [{"sku": "CABLE", "available": 77}])
    wait_for(lambda: customer.get("/product/CABLE").json()["availability"]["available"] == 77)
    shop.load("stock", [{"sku": "CABLE", "available": 1000}])
