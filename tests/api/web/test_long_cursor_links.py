"""Lists that are read by a cursor have their next page, however long the query is, or say that it is too long."""

from collections.abc import Iterator

import httpx2
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.events import number_events
from support.orders import buy
from support.service import Customer, Service

LONG = {100: 200, 5_000: 200, 13_000: 200, 14_500: 414, 60_000: 414}


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    made = shop.customer()
    for _ in range(3):
        buy(made)
    number_events(shop)
    return made


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop) as site:
        yield site


def follow(client: httpx2.Client, path: str, length: int) -> int:
    """The status of a list with a long query; checks that its next page follows it."""
    first = client.get(f"{path}?limit=1&x={'y' * length}")
    if first.status_code == 200:
        address = first.links["next"]["url"]
        assert f"x={'y' * length}&" in address
        second = client.get(address)
        assert second.status_code == 200
        assert len(second.json()) == 1
        assert second.json() != first.json()
    else:
        assert "16384 bytes of headers" in first.json()["message"]
        assert "Link" not in first.headers
    return first.status_code


def test_events_have_their_next_page(customer: Customer) -> None:
    assert {length: follow(customer.http, "/event", length) for length in LONG} == LONG


@pytest.mark.parametrize("path", ["/api/order", "/api/customer", "/api/event", "/api/audit"])
def test_lists_of_the_back_office_have_their_next_page(
    office: BackOfficeSite, customer: Customer, shop: Service, path: str
) -> None:
    assert customer.id != shop.customer().id  # so there are two customers
    caller = office.caller()
    assert {length: follow(caller, path, length) for length in LONG} == LONG
