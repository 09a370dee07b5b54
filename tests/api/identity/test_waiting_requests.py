"""A request that waits hears of nothing that happens after its key has ended."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.events import last_sequence, number_events
from support.orders import buy
from support.service import Customer, Service
from tradecounter.customers.change_account import block_customer
from tradecounter.identity.manage_keys import end_key
from tradecounter.identity.queries.api_keys import list_keys

End = Callable[[Service, Customer], None]


def kept(_service: Service, _customer: Customer) -> None:
    pass


def disabled(service: Service, customer: Customer) -> None:
    latest = service.in_transaction(lambda tx: list_keys(tx, customer.id))[-1]
    service.in_transaction(lambda tx: end_key(tx, latest.id, service.clock.now()))


def blocked(service: Service, customer: Customer) -> None:
    service.in_transaction(lambda tx: block_customer(tx, customer.id, "owes", service.clock.now()))


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(("end", "status"), [(kept, 200), (disabled, 401), (blocked, 401)])
@pytest.mark.parametrize("feed", ["/catalogue/change", "/event"])
def test_a_waiting_request_is_rejected_when_its_key_has_ended(shop: Service, feed: str, end: End, status: int) -> None:
    customer = shop.customer()
    waiting = shop.limited(customer, "read")
    place = waiting.get(feed).headers["X-Cursor"] if feed == "/catalogue/change" else last_sequence(shop)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(waiting.get, f"{feed}?after={place}&wait=8", timeout=30)
        time.sleep(1.5)
        end(shop, customer)
        buy(shop.customer() if end is blocked else customer)
        number_events(shop)
        shop.refresh()
        response = asked.result(30)
    assert response.status_code == status
    assert bool(response.json()) == (status == 200)
