"""Pages of orders, quotes and returns send a fixed number of SQL statements, whatever the size of what they show."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.orders import buy, create, dispatch, sell
from support.pages import Person, fields_of, staff_member
from support.proxy import Link, linked
from support.quotes import request_quote
from support.service import Customer, Service, running_service
from support.shop import STANDARD

pytestmark = pytest.mark.sweep

MOST = 75  # the preview of an amendment is an amendment, shown with prices and stock beside the order as it is


@dataclass
class Counter:
    """A back office that is connected to its database through a counting proxy."""

    office: BackOfficeSite
    sam: Person
    link: Link

    def count(self, path: str, fields: dict[str, str] | None = None) -> int:
        self.link.spoken.clear()
        response = self.sam.get(path) if fields is None else self.sam.send(path, fields)
        assert response.status_code == 200, response.text
        return self.link.statements


@pytest.fixture(scope="module")
def counter(shop: Service) -> Iterator[Counter]:
    with linked(shop.database_url) as link, running_service(link.url) as running, backoffice_of(running) as office:
        yield Counter(office, staff_member(running, office.url, "administrator"), link)


@pytest.fixture(scope="module")
def customer(counter: Counter) -> Customer:
    return counter.office.service.customer(credit="9000000")


def skus(service: Service, size: int) -> list[tuple[str, int]]:
    return [(sell(service, f"COUNTED-{size}-{n}", available=100), 3) for n in range(size)]


def order_page(counter: Counter, customer: Customer, size: int) -> list[int]:
    placed = buy(customer, skus(counter.office.service, size))
    for line in placed["items"]:
        dispatch(counter.office.service, placed, (line["id"], 1))
    path = f"/order/{placed['order_reference']}"
    fields = fields_of(counter.sam.get(f"{path}/amend")) | {"items-0-quantity": "5", "preview": "live"}
    return [
        counter.count(path),
        *(counter.count(f"{path}/{step}") for step in ("dispatch", "cancel", "return", "invoice", "amend")),
        counter.count(f"{path}/amend", fields),
    ]


def quote_page(counter: Counter, customer: Customer, size: int) -> list[int]:
    quote = request_quote(customer, skus(counter.office.service, size))
    path = f"/quote/{quote['confirmation_code']}"
    live = fields_of(counter.sam.get(path)) | {"discount": "5", "preview": "live"}
    return [counter.count(path), counter.count(f"{path}/price", live), counter.count(f"{path}/confirm")]


def entry_page(counter: Counter, customer: Customer, size: int) -> list[int]:
    typed = {f"items-{n}-sku": sku for n, (sku, _) in enumerate(skus(counter.office.service, size))}
    pending = create(customer, [("CABLE", 1)] * size)
    return [
        counter.count(f"/order/new/{customer.id}", typed | {"preview": "live"}),
        counter.count(f"/order/{pending['confirmation_code']}/confirm"),
    ]


def return_page(counter: Counter, customer: Customer, size: int) -> list[int]:
    placed = buy(customer, skus(counter.office.service, size), STANDARD)
    dispatch(counter.office.service, placed)
    path = f"/order/{placed['order_reference']}/return"
    fields = fields_of(counter.sam.get(path)) | {"reason": "x"}
    fields |= {f"items-{n}-quantity": "1" for n in range(size)}
    where = counter.sam.send(path, fields).headers["Location"]
    return [counter.count(where), counter.count(f"{where}/receive"), counter.count("/return"), counter.count("/quote")]


def papers_of_orders(counter: Counter, customer: Customer, size: int) -> list[int]:
    placed = [buy(customer) for _ in range(size)]
    query = urlencode([("order", each["order_reference"]) for each in placed])
    picking = counter.count(f"/order/many/picking-list?{query}")
    for each in placed:
        dispatch(counter.office.service, each)
    return [picking, counter.count(f"/order/many/packing-slip?{query}")]


@pytest.mark.parametrize("pages", [order_page, quote_page, entry_page, return_page, papers_of_orders])
def test_the_number_of_statements_does_not_depend_on_the_size(
    counter: Counter, customer: Customer, pages: Callable[[Counter, Customer, int], list[int]]
) -> None:
    pages(counter, customer, 1)  # the first request loads the catalogue
    few, many = pages(counter, customer, 2), pages(counter, customer, 9)
    assert few == many
    assert max(many) <= MOST
