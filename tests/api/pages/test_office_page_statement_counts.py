"""A staff page of customers, products or imports has as many SQL statements for many rows as for few."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from support.backoffice import backoffice_of
from support.orders import buy, sell
from support.pages import Person, staff_member
from support.proxy import Link, linked
from support.service import Service, running_service
from support.shop import ADDRESS, NEXT_DAY

pytestmark = pytest.mark.sweep


@dataclass
class Counter:
    """A back office, connected to its database through a counting proxy, with someone who reads its pages."""

    service: Service
    link: Link
    person: Person

    def count(self, address: str) -> int:
        self.person.get(address)  # from here on, statements are prepared
        self.link.spoken.clear()
        response = self.person.get(address)
        assert response.status_code == 200, response.text
        return self.link.statements


@pytest.fixture(scope="module")
def counter(shop: Service) -> Iterator[Counter]:
    with linked(shop.database_url) as link, running_service(link.url) as service, backoffice_of(service) as office:
        yield Counter(service, link, staff_member(service, office.url, "administrator"))


def filled(service: Service, size: int) -> tuple[int, str]:
    """A customer and a product with `size` of everything; their id and SKU."""
    customer = service.customer(company=f"Counted {size}")
    skus = [sell(service, f"C-{size}-{number}", available=1) for number in range(size)]
    for number, sku in enumerate(skus):
        buy(customer, [(skus[0], 2)], NEXT_DAY)
        assert customer.post("/customer/address", ADDRESS).status_code == 201
        prices = [
            {"customer_id": one, "sku": sku, "single_unit_cost": 5} for one in (customer.id, service.customer().id)
        ]
        service.must_load("contract-prices", prices)
        service.must_load("price-list", [{"price_list": f"list{number}", "sku": skus[0], "single_unit_cost": 5}])
    return customer.id, skus[0]


def test_pages_need_no_more_statements_for_more_rows(counter: Counter) -> None:
    few, many = filled(counter.service, 1), filled(counter.service, 5)
    ends = ("", "/order", "/price", "/access", "/address", "/statement", "/webhook", "/event", "/history")
    for end in ends:
        counts = [counter.count(f"/customer/{customer_id}{end}") for customer_id, _ in (few, many)]
        assert counts[0] == counts[1], end
    counts = [counter.count(f"/product/{sku}?customer={customer_id}") for customer_id, sku in (few, many)]
    assert counts[0] == counts[1]
    lists = (
        ("/customer?query=Counted 1", "/customer"),
        ("/product?query=C-1", "/product"),
        ("/import?after=", "/import"),
    )
    for short, whole in lists:
        assert counter.count(short) == counter.count(whole)
