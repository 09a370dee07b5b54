"""Several orders at once: papers, dispatch and invoices, each order whole or not at all."""

import re
from collections.abc import Iterator
from html import unescape
from io import BytesIO

import httpx2
import pytest
from pypdf import PdfReader

from support.backoffice import BackOfficeSite, backoffice_of
from support.orders import buy, cancel, create, dispatch, rows, sell
from support.pages import Person, fields_of, staff_member, text_of
from support.reseller_twin import SELLER
from support.service import Customer, Service


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    """A back office that may issue invoices."""
    with backoffice_of(shop, **SELLER) as running:
        yield running


@pytest.fixture
def warehouse(office: BackOfficeSite) -> Person:
    return staff_member(office.service, office.url, "warehouse")


def names_of(orders: list[dict[str, str]]) -> list[str]:
    return [order["order_reference"] for order in orders]


def query(names: list[str]) -> str:
    return "&".join(f"order={name}" for name in names)


def dispatched(person: Person, names: list[str], numbers: list[str]) -> dict[str, str]:
    """The form's fields with tracking numbers."""
    fields = fields_of(person.get(f"/order/many/dispatch?{query(names)}"))
    return fields | {f"orders-{place}-tracking_number": number for place, number in enumerate(numbers)}


def all_fields_of(page: httpx2.Response) -> dict[str, list[str]]:
    """The fields of a page that goes on by itself, also those that are there several times."""
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', page.text):
        found.setdefault(name, []).append(unescape(value))
    return found


def test_a_list_offers_boxes_for_orders_that_are_confirmed_only(shop: Service, sam: Person, warehouse: Person) -> None:
    customer = shop.customer()
    bought, pending = buy(customer)["order_reference"], create(customer)["confirmation_code"]
    page = warehouse.get(f"/order?customer_id={customer.id}")
    assert f'aria-label="Choose {bought}"' in page.text
    assert f"Choose {pending}" not in page.text
    cancelled = buy(customer)
    cancel(shop, cancelled)
    gone, page = cancelled["order_reference"], warehouse.get(f"/order?customer_id={customer.id}")
    assert re.search(rf">{gone}(</[^>]+>)*</a>", page.text)
    assert f"Choose {gone}" not in page.text
    assert "Cancelled was £66.60" in text_of(sam.get(f"/order?customer_id={customer.id}"))


def test_several_orders_are_dispatched_in_one_go_with_their_tracking_numbers(shop: Service, warehouse: Person) -> None:
    customer = shop.customer()
    names = names_of([buy(customer), buy(customer), buy(customer)])
    answer = warehouse.send("/order/many/dispatch", dispatched(warehouse, names, ["AB1", "", "AB3"]))
    assert answer.status_code == 200
    assert "3 orders dispatched" in text_of(answer)
    shown = [customer.get(f"/order/{name}").json() for name in names]
    assert [order["status"] for order in shown] == ["Dispatched"] * 3
    assert [order["shipping"][0].get("tracking_number") for order in shown] == ["AB1", None, "AB3"]


def test_an_order_that_cannot_leave_holds_up_no_other(shop: Service, warehouse: Person) -> None:
    customer, sku = shop.customer(), sell(shop, "MANY-NONE")
    good, waiting = names_of([buy(customer, [("PHONE", 2), ("CABLE", 1)]), buy(customer, [(sku, 1)])])
    form = warehouse.get(f"/order/many/dispatch?{query([waiting, good])}")
    assert "Nothing can leave" in text_of(form)
    assert "2 \u00d7 PHONE, 1 \u00d7 CABLE" in text_of(form)
    assert list(dispatched(warehouse, [waiting, good], []).values()).count(waiting) == 0
    fields = {"once": "", "orders-0-order": waiting, "orders-1-order": good}
    answer = warehouse.send("/order/many/dispatch", fields)
    assert "1 order dispatched" in text_of(answer)
    assert waiting in text_of(answer)
    assert "Try the others again" not in text_of(answer)  # nothing of it can leave yet
    assert customer.get(f"/order/{good}").json()["status"] == "Dispatched"
    assert customer.get(f"/order/{waiting}").json()["status"] != "Dispatched"


def test_the_same_form_sent_twice_dispatches_once(warehouse: Person, customer: Customer) -> None:
    names = names_of([buy(customer, [("PHONE", 2)])])
    fields = dispatched(warehouse, names, ["TWICE-1"])
    first, second = (warehouse.send("/order/many/dispatch", fields) for _ in range(2))
    assert text_of(first).count("Dispatched") == text_of(second).count("Dispatched")
    assert "1 order dispatched" in text_of(second)


def test_orders_are_invoiced_in_one_go(shop: Service, office: BackOfficeSite, customer: Customer) -> None:
    manager = staff_member(shop, office.url, "administrator")
    names = names_of([buy(customer), buy(customer)])
    manager.send("/order/many/dispatch", dispatched(manager, names[:1], []))
    fields, of_another = (fields_of(manager.get(f"/order/many/invoice?{query(names)}")) for _ in range(2))
    answer = text_of(manager.send("/order/many/invoice", fields))
    assert "1 order invoiced" in answer
    assert "already covers everything dispatched" in text_of(manager.send("/order/many/invoice", of_another))
    assert customer.get(f"/order/{names[0]}/invoice").status_code == 200
    assert customer.get(f"/order/{names[1]}/invoice").status_code == 412


def test_picking_lists_are_one_file_in_the_order_of_the_shelves(shop: Service, warehouse: Person) -> None:
    customer = shop.customer()
    near, nowhere = (sell(shop, f"SHELF-{name}", available=9) for name in ("NEAR", "NOWHERE"))
    far = sell(shop, "SHELF-FAR", available=9, ean="5000000000210")
    shop.must_load(
        "stock",
        [{"sku": far, "available": 9, "location": "A-10"}, {"sku": near, "available": 9, "location": "A-9"}],
    )
    names = names_of([buy(customer, [(nowhere, 1), (far, 1), (near, 1)]), buy(customer)])
    file = warehouse.get(f"/order/many/picking-list?{query(names)}")
    assert file.headers["Content-Type"] == "application/pdf"
    assert file.headers["Content-Disposition"].startswith("inline")
    first, second = (page.extract_text() for page in PdfReader(BytesIO(file.content)).pages)
    assert names[0] in first
    assert names[1] in second
    places = [first.index(text) for text in ("A-9", "A-10", nowhere)]
    assert places == sorted(places)
    picked = text_of(screen := warehouse.get(f"/order/many/pick?{query(names)}"))
    assert f'data-codes="{far}\n5000000000210" data-units="1"' in screen.text
    expected = {"A-9": near, "A-10": far, "no place": nowhere}
    places = [picked.index(f"{place} 1 \u00d7 {sku}") for place, sku in expected.items()]
    assert places == sorted(places)


def test_lines_with_the_same_product_and_units_are_picked_one_by_one(shop: Service, warehouse: Person) -> None:
    customer = shop.customer()
    sku = sell(shop, "PICKED-TWICE", available=9)
    placed = buy(customer, [(sku, 2), (sku, 2)])

    def keys() -> list[str]:
        page = warehouse.get(f"/order/many/pick?{query(names_of([placed]))}")
        return re.findall('data-picked="([^"]*)"', page.text)

    first, second = keys()
    assert first != second
    dispatch(shop, placed, (int(first.partition("/")[0]), 2))
    assert keys() == [second]


def test_papers_that_some_orders_do_not_have_are_named_first(shop: Service, warehouse: Person) -> None:
    customer = shop.customer()
    names = names_of([buy(customer), buy(customer)])
    warehouse.send("/order/many/dispatch", dispatched(warehouse, names[:1], []))
    answer = warehouse.get(f"/order/many/packing-slip?{query(names)}")
    assert f"nothing of {names[1]} is dispatched yet" in text_of(answer).lower().replace(names[1].lower(), names[1])
    assert f"/order/many/packing-slip?order={names[0]}" in answer.text
    assert warehouse.get(f"/order/many/packing-slip?{query(names[:1])}").headers["Content-Type"] == "application/pdf"


@pytest.mark.parametrize("path", ["dispatch", "invoice", "pick", "picking-list", "packing-slip"])
def test_without_a_choice_each_page_says_what_to_do(sam: Person, path: str) -> None:
    answer = sam.get(f"/order/many/{path}")
    assert answer.status_code == 400
    assert "tick the orders" in text_of(answer).lower()
    assert sam.get(f"/order/many/{path}?{query([f'PLN-{n}' for n in range(60)])}").status_code == 400


def test_a_form_without_orders_changes_nothing(sam: Person) -> None:
    assert sam.send("/order/many/dispatch", {"once": "empty"}).status_code == 400


def test_a_tracking_number_that_is_too_long_is_said_beside_its_order(shop: Service, warehouse: Person) -> None:
    customer = shop.customer()
    names = names_of([buy(customer)])
    answer = text_of(warehouse.send("/order/many/dispatch", dispatched(warehouse, names, ["x" * 500])))
    assert "0 orders dispatched" in answer
    assert customer.get(f"/order/{names[0]}").json()["status"] != "Dispatched"


def test_what_could_not_leave_is_shown_again_with_its_tracking_number(shop: Service, warehouse: Person) -> None:
    customer = shop.customer()
    names = names_of([buy(customer), buy(customer), buy(customer)])
    numbers = ["KEPT-1", "x" * 500, "KEPT-3"]
    answer = warehouse.send("/order/many/dispatch", dispatched(warehouse, names, numbers))
    assert "2 orders dispatched" in text_of(answer)
    assert f"{names[1]} Tracking number must have 1 to 100 characters" in text_of(answer)
    again = fields_of(answer)
    assert again["orders-1-order"] == names[1]
    assert again["orders-1-tracking_number"] == "x" * 500
    assert not {"orders-0-order", "orders-2-order"} & set(again)
    answer = warehouse.send("/order/many/dispatch", again | {"orders-1-tracking_number": "KEPT-2"})
    assert "1 order dispatched" in text_of(answer)
    assert customer.get(f"/order/{names[1]}").json()["shipping"][0]["tracking_number"] == "KEPT-2"


def test_only_what_the_form_has_shown_leaves(shop: Service, warehouse: Person) -> None:
    customer, sku = shop.customer(), sell(shop, "MANY-LATE", available=2)
    [name] = names_of([buy(customer, [(sku, 5)])])
    fields = dispatched(warehouse, [name], ["LATE-1"])
    shop.must_load("stock", [{"sku": sku, "available": 9}])
    assert "1 order dispatched" in text_of(warehouse.send("/order/many/dispatch", fields))
    query = "select dispatched from order_line l join orders o on o.id = order_id where order_reference = %s"
    assert rows(shop, query, name) == [(2,)]


def test_an_order_that_was_amended_meanwhile_does_not_leave(shop: Service, warehouse: Person) -> None:
    customer, sku = shop.customer(), sell(shop, "MANY-LESS", available=5)
    placed = buy(customer, [(sku, 5)])
    [name] = names_of([placed])
    fields = dispatched(warehouse, [name], ["LESS-1"])
    cancel(shop, placed, "fewer", (placed["items"][0]["id"], 3))
    answer = warehouse.send("/order/many/dispatch", fields)
    assert "0 orders dispatched" in text_of(answer)
    assert f"{name} MANY-LESS has 2 units left: its quantity must be from 1 to 2" in text_of(answer)
    assert fields_of(answer)["orders-0-units"].endswith(":2")
    assert fields_of(answer)["orders-0-tracking_number"] == "LESS-1"


@pytest.mark.parametrize("twice", [True, False])
def test_a_number_that_was_scanned_at_a_wrong_order_dispatches_nothing(
    warehouse: Person, customer: Customer, twice: bool
) -> None:
    names = names_of([buy(customer), buy(customer)])
    wrong = "SAME-1" if twice else names[0].lower()
    answer = warehouse.send("/order/many/dispatch", dispatched(warehouse, names, ["same-1", wrong]))
    assert answer.status_code == 400
    said = f"is at {names[0]} too" if twice else f"is the number of the order {names[0]}"
    assert f"Tracking number of {names[1]} {said}" in text_of(answer)
    assert {customer.get(f"/order/{name}").json()["status"] for name in names} == {"Awaiting dispatch"}
    assert fields_of(answer)["orders-0-tracking_number"] == "same-1"


def test_many_orders_are_changed_ten_at_a_time_with_their_number(warehouse: Person, customer: Customer) -> None:
    names = names_of([buy(customer) for _ in range(23)])
    numbers = [f"TEN-{number}" for number in range(23)]
    numbers[4] = "x" * 500
    first = warehouse.send("/order/many/dispatch", dispatched(warehouse, names, numbers))
    assert "10 of 23 orders." in text_of(first)
    assert 'hx-trigger="load, submit"' in first.text
    second = warehouse.send("/order/many/dispatch", all_fields_of(first))
    assert "20 of 23 orders." in text_of(second)
    last = warehouse.send("/order/many/dispatch", all_fields_of(second))
    assert "22 orders dispatched" in text_of(last)
    assert fields_of(last)["orders-4-tracking_number"] == "x" * 500
    shown = [customer.get(f"/order/{name}").json() for name in names]
    assert [order["status"] for order in shown].count("Dispatched") == 22
    assert shown[22]["shipping"][0]["tracking_number"] == "TEN-22"
    assert len({order["shipping"][0].get("tracking_number") for order in shown}) == 23


def test_the_form_of_invoices_has_each_amount_and_their_sum(shop: Service, office: BackOfficeSite) -> None:
    customer = shop.customer()
    manager = staff_member(shop, office.url, "administrator")
    names = names_of([buy(customer), buy(customer), buy(customer)])
    manager.send("/order/many/dispatch", dispatched(manager, names[:2], []))
    page = text_of(manager.get(f"/order/many/invoice?{query(names)}"))
    assert "after everything is dispatched" in page
    assert "1 order cannot be invoiced yet" in page
    manager.send("/order/many/invoice", fields_of(manager.get(f"/order/many/invoice?{query(names[:2])}")))
    totals = [gross for (gross,) in rows(shop, "select gross from invoice where customer_id = %s", customer.id)]
    assert f"£{sum(totals)} with VAT on 2 invoices" in page
    assert page.count(f"£{totals[0]}") == 2
    assert "nothing" in text_of(manager.get(f"/order/many/invoice?{query(names[:1])}"))
