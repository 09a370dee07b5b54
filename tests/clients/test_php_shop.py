"""The guide's shop in PHP, with the built client: it orders each purchase once and follows the parcels."""

import json
import sqlite3
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from support.built_clients import PhpClient
from support.demo import Demo
from support.events import number_events
from support.guide import blocks_of
from support.lossy_proxy import lossy_proxy
from support.orders import cancel, correct, dispatch, take_back
from support.service import Customer
from support.shop import ADDRESS
from tradecounter.customers.change_account import block_customer

pytestmark = pytest.mark.long


@dataclass
class Shop:
    """A shop's database and the guide's programs."""

    client: PhpClient
    file: Path

    def sell(self, number: int, sku: str, most: float, units: int = 1) -> None:
        item = {"sku": sku, "quantity": units, "max_unit_cost": most}
        request = {"customer_reference": f"SHOP-{number}", "items": [item], "billing_address": ADDRESS,
                   "shipping_address": ADDRESS, "allow_back_orders": False}  # fmt: skip
        self.do("insert into purchase (id, request) values (?, ?)", number, json.dumps(request))

    def do(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        with sqlite3.connect(self.file) as database:
            return database.execute(statement, values).fetchall()

    def run(self, program: str, customer: Customer, url: str) -> str:
        [code] = [code for code in blocks_of("A shop in PHP") if f"// {program}" in code]
        code = code.replace("sqlite:shop.sqlite", f"sqlite:{self.file}").replace("https://api.example", url)
        (self.client.folder / f"shop-{program}").write_text(code)
        return self.client.program(f"shop-{program.removesuffix('.php')}", KEY=customer.key)


@pytest.fixture
def shop(php_client: PhpClient, tmp_path: Path) -> Shop:
    made = Shop(php_client, tmp_path / "shop.sqlite")
    made.do("create table purchase (id integer primary key, request text, reference text, problem text)")
    return made


def test_a_purchase_is_ordered_once_although_responses_are_lost_and_the_program_dies(shop: Shop, demo: Demo) -> None:
    customer = demo.service.customer()
    cost = customer.get("/product/CV-320P").json()["single_unit_cost"]
    shop.sell(0, "CV-320P", cost)
    with lossy_proxy(demo.service.url) as proxy:
        shop.run("orders.php", customer, proxy.url)
    first = shop.do("select reference, problem from purchase")
    shop.do("update purchase set reference = null")  # the program died before it could keep it
    demo.service.must_load("stock", [{"sku": "CV-320P", "available": 0}])
    shop.run("orders.php", customer, demo.service.url)
    [order] = customer.get("/order").json()
    assert shop.do("select reference, problem from purchase") == first == [(order["order_reference"], None)]


def test_what_cannot_be_ordered_is_kept_for_people(shop: Shop, demo: Demo) -> None:
    customer = demo.service.customer()
    demo.service.must_load("stock", [{"sku": "CV-320P", "available": 0}])
    for number, most in enumerate((0.01, 9999)):
        shop.sell(number, "CV-320P", most)
    shop.run("orders.php", customer, demo.service.url)
    [(dearer,), (absent,)] = shop.do("select problem from purchase")
    assert "price_changed" in str(dearer)
    assert "out_of_stock" in str(absent)


def test_a_purchase_waits_while_nobody_responds_or_something_stops_all_orders(shop: Shop, demo: Demo) -> None:
    customer, url = demo.service.customer(), demo.service.url
    cashless, blocked = demo.service.customer(credit=None), demo.service.customer()
    demo.service.in_transaction(lambda tx: block_customer(tx, blocked.id, "owes", demo.service.clock.now()))
    reading = demo.service.limited(customer, "read").headers["X-Api-Key"]
    demo.service.must_load("stock", [{"sku": "CV-320P", "available": 500}])
    shop.sell(0, "CV-320P", 9999)
    for buyer, base in (
        (customer, "http://127.0.0.1:9"),
        (customer, f"{url}/nowhere"),
        (replace(customer, key="0" * 64), url),
        (replace(customer, key=reading), url),
        (cashless, url),
        (blocked, url),
    ):
        assert shop.run("orders.php", buyer, base).startswith("later: ")
        assert shop.do("select reference, problem from purchase") == [(None, None)]


def test_a_purchase_beyond_the_credit_waits_and_the_next_one_is_ordered(shop: Shop, demo: Demo) -> None:
    customer = demo.service.customer()
    cost = customer.get("/product/CV-320P").json()["single_unit_cost"]
    poor = demo.service.customer(credit=str(3 * cost + 50))
    demo.service.must_load("stock", [{"sku": "CV-320P", "available": 500}])
    for number, units in enumerate((40, 1)):
        shop.sell(number, "CV-320P", 9999, units)
    said = shop.run("orders.php", poor, demo.service.url)
    assert said.startswith("later: purchase 0: 402 credit_exceeded: the order of £")
    [order] = poor.get("/order").json()
    assert shop.do("select reference, problem from purchase") == [(None, None), (order["order_reference"], None)]


def test_parcels_and_cancellations_are_followed(shop: Shop, demo: Demo) -> None:
    customer = demo.service.customer()
    demo.service.must_load("stock", [{"sku": "CV-320P", "available": 500}])
    shop.sell(0, "CV-320P", 9999, units=3)
    shop.run("orders.php", customer, demo.service.url)
    [order] = customer.get("/order").json()
    cancel(demo.service, order, "one is broken", (order["items"][0]["id"], 1))
    dispatch(demo.service, order, tracking_number="1Z999")
    number_events(demo.service)
    for _ in range(2):
        shop.run("parcels.php", customer, demo.service.url)
    [parcel] = customer.get(f"/order/{order['order_reference']}").json()["shipping"]
    kept = (parcel["shipment_id"], order["order_reference"], parcel["carrier"], parcel["tracking_url"])
    assert shop.do("select id, reference, carrier, tracking_url from parcel") == [kept]
    assert shop.do("select problem from purchase") == [("1 cancelled: one is broken",)]
    correct(demo.service, order, parcel["shipment_id"], tracking_number="2Z999")
    number_events(demo.service)
    shop.run("parcels.php", customer, demo.service.url)
    assert shop.do("select tracking_url from parcel") == [(kept[-1].replace("1Z999", "2Z999"),)]
    take_back(demo.service, order, parcel["shipment_id"])
    cancel(demo.service, order, "no more of them")
    number_events(demo.service)
    shop.run("parcels.php", customer, demo.service.url)
    assert shop.do("select * from parcel") == []
    assert shop.do("select problem from purchase") == [("all cancelled: no more of them",)]
