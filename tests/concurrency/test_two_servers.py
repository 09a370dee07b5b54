"""Two servers on one database behave as one service."""

from collections.abc import Iterator

import pytest

from support.orders import buy, confirm, create, read, sell
from support.service import Customer, Service, running_service
from support.shop import ADDRESS

pytestmark = pytest.mark.sweep


@pytest.fixture(scope="module")
def second(shop: Service) -> Iterator[Service]:
    with running_service(shop.database_url) as running:
        yield running


@pytest.fixture(scope="module")
def there(second: Service) -> Customer:
    """A customer of the second server, where it was added."""
    return second.customer()


@pytest.fixture(scope="module")
def here(shop: Service, there: Customer) -> Customer:
    """The same customer as a client of the first server."""
    return Customer(there.id, there.key, shop.client(**{"X-Api-Key": there.key}))


def test_a_customer_added_on_one_server_can_order_on_the_other_immediately(here: Customer) -> None:
    assert read(here, buy(here))["status"] == "Awaiting dispatch"


def test_an_order_created_on_one_server_can_be_confirmed_on_the_other(
    shop: Service, second: Service, here: Customer, there: Customer
) -> None:
    placed = confirm(there, create(here)).json()
    for server in (shop, second):
        server.refresh()
    assert read(here, placed) == read(there, placed)
    assert here.get("/order").json()[0] == there.get("/order").json()[0] == read(here, placed)


def test_confirming_again_on_the_other_server_returns_the_same_order(here: Customer, there: Customer) -> None:
    pending = create(here)
    assert confirm(here, pending).json() == confirm(there, pending).json()


def test_an_order_shows_a_product_that_the_other_server_has_not_loaded(
    shop: Service, here: Customer, there: Customer
) -> None:
    sku = sell(shop, "JUST-IN", 7, available=5)
    placed = buy(here, [(sku, 2)])
    [item] = read(there, placed)["items"]
    assert (item["product"]["sku"], item["product"]["single_unit_cost"]) == (sku, 7.00)


def test_an_order_for_an_unloaded_product_is_listed_on_the_other_server(
    shop: Service, here: Customer, there: Customer
) -> None:
    sku = sell(shop, "JUST-IN-TOO", 7, available=5)
    buy(here, [(sku, 2)])
    [newest, *_] = there.get("/order").json()
    assert newest["items"][0]["product"]["sku"] == sku


def test_an_order_for_an_unloaded_product_is_confirmed_on_the_other_server(
    shop: Service, here: Customer, there: Customer
) -> None:
    sku = sell(shop, "JUST-IN-THREE", 7, available=5)
    pending = create(here, [(sku, 2)])
    assert confirm(there, pending).status_code == 200


def test_credit_and_addresses_are_the_same_on_both_servers(here: Customer, there: Customer) -> None:
    buy(here)
    assert here.get("/customer/credit").json() == there.get("/customer/credit").json()
    address = here.post("/customer/address", ADDRESS).json()
    assert create(there, shipping_address={"id": address["id"]})["shipping_address"] == address


def test_stock_allocated_on_one_server_shows_on_the_other_after_a_refresh(
    shop: Service, second: Service, here: Customer, there: Customer
) -> None:
    sku = sell(shop, "TAKEN", available=5)
    second.refresh()
    buy(here, [(sku, 2)])
    second.refresh()
    assert there.get(f"/product/{sku}").json()["availability"]["available"] == 3
