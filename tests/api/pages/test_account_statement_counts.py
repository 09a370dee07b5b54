"""The customer's pages have a fixed number of SQL statements, whatever the number of orders, lines and invoices."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from support.billing import invoiced
from support.orders import buy, create
from support.pages import Person, customer_user
from support.proxy import Link, linked
from support.quotes import price_as_support, request_quote
from support.service import Service, running_service
from support.shop import ADDRESS

pytestmark = pytest.mark.sweep

_numbers = itertools.count(1)


@dataclass
class Counted:
    """The public site behind a proxy that counts statements."""

    service: Service
    link: Link

    def of(self, person: Person, path: str) -> int:
        """The statements of a page."""
        self.service.refresh()
        assert person.get(path).status_code == 200  # the session's last use is written from here on
        self.link.spoken.clear()
        assert person.get(path).status_code == 200
        return self.link.statements


@pytest.fixture(scope="module")
def counted(shop: Service) -> Iterator[Counted]:
    with linked(shop.database_url) as link, running_service(link.url) as running:
        running.must_load("stock", [{"sku": sku, "available": 10_000} for sku in ("PHONE", "CABLE")])
        yield Counted(running, link)


def pages_of(service: Service, size: int) -> tuple[Person, dict[str, str]]:
    """A customer's owner, and the pages of what it has: a number of everything."""
    customer = service.customer()
    lines = [("PHONE", 1), ("CABLE", 2)] * size
    for _ in range(size):
        buy(customer, lines, customer_reference=f"P{next(_numbers)}")
        placed = invoiced(service, customer, *lines, customer_reference=f"I{next(_numbers)}")
        pending = create(customer, lines, customer_reference=f"N{next(_numbers)}")
        quote = request_quote(customer, lines, customer_reference=f"Q{next(_numbers)}")
        price_as_support(service, quote, ("PHONE", "45.00"))
        customer.post("/customer/address", ADDRESS).raise_for_status()
    paths = {
        "home": "/account",
        "orders": "/account/order",
        "order": f"/account/order/{placed['order_reference']}",
        "pending": f"/account/new-order/{pending['confirmation_code']}",
        "again": f"/account/new-order?again={placed['order_reference']}",
        "quotes": "/account/quote",
        "quote": f"/account/quote/{quote['confirmation_code']}",
        "invoices": "/account/invoice",
        "statement": "/account/invoice/statement",
        "credit": "/account/credit",
        "addresses": "/account/address",
        "users": "/account/user",
    }
    return customer_user(service, customer.id), paths


def test_pages_have_a_fixed_number_of_statements(counted: Counted) -> None:
    small, large = (pages_of(counted.service, size) for size in (1, 4))
    counts = {name: tuple(counted.of(person, paths[name]) for person, paths in (small, large)) for name in small[1]}
    assert {name: few for name, (few, many) in counts.items() if few != many} == {}
    assert max(few for few, _ in counts.values()) <= 20
