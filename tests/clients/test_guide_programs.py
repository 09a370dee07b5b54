"""The guide's programs with each built client do what their chapters say."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.agent_consent import connecting
from support.billing import invoiced, number_of
from support.built_clients import BuiltClient, ran
from support.demo import Demo
from support.events import number_events
from support.guide import program_of
from support.orders import buy, dispatch
from support.pages import customer_user
from support.service import Customer
from support.shop import ADDRESS, order

pytestmark = pytest.mark.long

_METHOD = 101  # of the demo


@dataclass
class Reader:
    """A customer's developer who runs the guide's programs in a folder."""

    client: BuiltClient
    demo: Demo
    customer: Customer
    folder: Path

    def run(self, name: str, price: str = "79.90") -> list[str]:
        """The lines that a program prints, which knows a price."""
        code = program_of(self.client.kind.format(name)).replace("https://api.example", self.demo.service.url)
        command = self.client.command(f"guide-{name}", code.replace("79.90", price))
        return ran(command, {"KEY": self.customer.key}, self.folder).splitlines()

    def copied(self) -> dict[str, tuple[float, int]]:
        """What the copy of the catalogue has by SKU: a unit's price, and how many are in stock."""
        if (file := self.folder / "copy.json").exists():
            return figures(json.loads(file.read_text())["products"].values())
        with sqlite3.connect(self.folder / "copy.sqlite") as copy:
            return {sku: (float(cost), count) for sku, cost, count in copy.execute("select * from product")}

    def stock(self, available: int) -> None:
        self.demo.service.must_load("stock", [{"sku": "CV-320P", "available": available}])


def figures(products: Iterable[dict[str, Any]]) -> dict[str, tuple[float, int]]:
    return {each["sku"]: (each["single_unit_cost"], each["availability"]["available"]) for each in products}


@pytest.fixture
def reader(client: BuiltClient, demo: Demo, tmp_path: Path) -> Reader:
    return Reader(client, demo, demo.service.customer(), tmp_path)


def test_a_copy_is_brought_up_to_date(reader: Reader) -> None:
    for available in (41, 42):
        reader.stock(available)
        assert reader.run("sync") == []
        assert reader.copied()["CV-320P"][1] == available
        assert reader.copied() == figures(reader.customer.get("/product?limit=0").json())


def test_an_order_is_placed_at_its_price_or_says_what_stops_it(reader: Reader) -> None:
    reader.stock(10)
    assert reader.customer.post("/customer/address", ADDRESS).status_code == 201
    cost = reader.customer.get("/product/CV-320P").json()["single_unit_cost"]
    assert reader.run("order", f"{cost - 0.01:.2f}") == [f"one unit costs {cost} now"]
    [code] = reader.run("order", f"{cost:.2f}")
    assert reader.run("order", f"{cost:.2f}") == [code]
    assert reader.customer.get(f"/order/{code}").json()["status"] == "Pending"
    reader.stock(1)
    [said] = reader.run("order", f"{cost + 1:.2f}")
    assert "1 of CV-320P are in stock, not 2" in said


def test_each_parcel_is_printed_once(reader: Reader) -> None:
    reader.stock(10)
    placed = buy(reader.customer, [("CV-320P", 1)], _METHOD)
    dispatch(reader.demo.service, placed, tracking_number="1Z999")
    number_events(reader.demo.service)
    [parcel] = reader.customer.get(f"/order/{placed['order_reference']}").json()["shipping"]
    shown = (placed["order_reference"], parcel["shipment_id"], parcel["carrier"], parcel["tracking_url"])
    assert reader.run("parcels") == [" ".join(map(str, shown))]
    assert reader.run("parcels") == []


def test_each_order_of_an_agent_above_its_limit_is_told_once(reader: Reader) -> None:
    service, customer = reader.demo.service, reader.customer
    reader.stock(10)
    agent = connecting(service, customer_user(service, customer.id, "owner")).agent(order_limit="1", day_limit="1")
    asked = agent.call("price_order", **order([("CV-320P", 1)]))
    option = asked["shipping_options"][0]
    shown = {"confirmation_code": asked["confirmation_code"], "shipping_method": option["id"]}
    assert agent.call("confirm_order", **shown, total=option["total_gross"])["code"] == "approval_needed"
    number_events(service)
    assert reader.run("waiting") == [f"{asked['confirmation_code']} PO-1 £{option['total_gross']:.2f}"]
    assert reader.run("waiting") == []


def test_each_invoice_is_saved_once(reader: Reader) -> None:
    service, customer = reader.demo.service, reader.customer
    reader.stock(10)
    placed = [invoiced(service, customer, ("CV-320P", 1), method=_METHOD) for _ in range(2)]
    numbers = [number_of(service, each) for each in placed]
    listed = customer.get("/invoice").json()
    assert [each["number"] for each in listed] == numbers[::-1]
    fields = ("number", "order_reference", "cost_gross", "state")
    assert reader.run("documents") == [" ".join(str(each[name]) for name in fields) for each in listed]
    assert reader.run("documents") == []
    for number in numbers:
        file = customer.get(f"/invoice/{number}", headers={"Accept": "application/pdf"}).content
        assert (reader.folder / f"{number}.pdf").read_bytes() == file
