"""`stock receive`, `stock count`, `customer note` and contacts: what the warehouse and support do at a terminal."""

import pytest

from support.command_line import Forker, Program
from support.orders import buy, rows, sell
from support.service import Customer, Service
from support.shop import NEXT_DAY


@pytest.fixture(scope="module")
def tradecounter(shop: Service, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    return Program(tmp_path_factory.mktemp("desk"), shop.database_url, forker)


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.mark.sweep
def test_a_delivery_is_booked_in_and_its_rest_stays_expected(
    tradecounter: Program, shop: Service, customer: Customer
) -> None:
    sku = sell(shop, "BOOKED", 10, available=0)
    shop.must_load("incoming", [{"sku": sku, "incoming": 10, "expected_on": "2026-07-01"}])
    buy(customer, [(sku, 2)], NEXT_DAY)
    words = ("stock", "receive", "booked", "6", "--expected", "2026-07-01")
    assert tradecounter.json(*words) == {"sku": sku, "units": 6, "expected": 10, "served": 2}
    shown = tradecounter.json("stock", "show", sku)
    assert (shown["available"], shown["allocated"]) == (4, 2)
    assert [delivery["incoming"] for delivery in shown["deliveries"]] == [4]
    assert "served" in tradecounter.text("stock", "receive", sku, "1", "--expected", "2026-07-01", "--ends")
    assert tradecounter.json("stock", "show", sku)["deliveries"] == []
    said = tradecounter.error("stock", "receive", sku, "1", "--expected", "2026-07-01")
    assert said == f"--expected: no delivery of {sku} is expected then"
    assert "neither a date" in tradecounter.misused("stock", "receive", sku, "1", "--expected", "soon")


def test_a_count_is_compared_before_it_is_entered(tradecounter: Program, shop: Service) -> None:
    sku = sell(shop, "COUNTED", 10, available=5)
    file = tradecounter.folder / "count.csv"
    file.write_text(f"sku,name,counted\n{sku},A lamp,7\nCABLE,A cable,\n")
    differing = [{"sku": sku, "expected": 5, "counted": 7, "allocated": 0, "difference": 2}]
    assert tradecounter.json("stock", "count", "count.csv", "--dry-run") == differing
    assert tradecounter.json("stock", "show", sku)["on_hand"] == 5
    assert tradecounter.json("stock", "count", "count.csv") == differing
    assert tradecounter.json("stock", "count", "count.csv") == []
    file.write_text(f"{sku} many\n")
    said = tradecounter.error("stock", "count", "count.csv")
    assert said.startswith(f"count.csv: line 1 '{sku} many' ")
    assert "must end with a whole number of units" in said
    file.write_bytes(bytes(9))
    assert tradecounter.error("stock", "count", "count.csv").startswith("count.csv: ")
    file.write_text("NO-SUCH 1\n")
    assert tradecounter.error("stock", "count", "count.csv") == "no product has the SKU or EAN NO-SUCH"
    assert tradecounter.json("stock", "show", sku)["on_hand"] == 7


def test_notes_and_contacts_are_kept(tradecounter: Program, shop: Service, customer: Customer) -> None:
    number = str(customer.id)
    noted = tradecounter.json("customer", "note", number, "  Rings on Mondays.  ", "--promised", "2099-01-31")
    assert noted == {"customer_id": customer.id, "text": "Rings on Mondays.", "promised_on": "2099-01-31"}
    query = "select text, promised_on::text from customer_note where customer_id = %s"
    assert rows(shop, query, customer.id) == [("Rings on Mondays.", "2099-01-31")]
    assert "--promised: is in the past" in tradecounter.error(
        "customer", "note", number, "Late", "--promised", "2020-01-01"
    )
    added = tradecounter.json("customer", "add-contact", number, "--name", "Ada", "--phone", "020 7946 0123")
    assert added == {"id": added["id"], "name": "Ada", "task": "", "email": "", "phone": "020 7946 0123"}
    assert tradecounter.json("customer", "contacts", number) == [added]
    assert "020 7946 0123" in tradecounter.text("customer", "contacts", number)
    assert tradecounter.json("customer", "remove-contact", number, str(added["id"])) == added
    assert tradecounter.json("customer", "contacts", number) == []
    gone = tradecounter.error("customer", "remove-contact", number, str(added["id"]))
    assert gone == f"contact {added['id']} not found"
    assert tradecounter.error("customer", "contacts", "999999") == "customer 999999 not found"
