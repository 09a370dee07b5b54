"""`order list` by what orders have in common, and orders named by beginnings and by customers' references."""

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from support.command_line import Forker, Program
from support.orders import at, buy, cancel, create, dispatch, sell
from support.quotes import request_quote
from support.service import MORNING, Customer, Service
from support.shop import STANDARD, stock_shop
from tradecounter.kit.clock import local_text


@pytest.fixture(scope="module")
def tradecounter(service: Service, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    stock_shop(service)
    return Program(tmp_path_factory.mktemp("lookups"), service.database_url, forker)


@pytest.fixture(scope="module")
def buyer(service: Service, tradecounter: Program) -> Customer:
    assert tradecounter.url == service.database_url
    return service.customer(shipping_method=STANDARD)


@pytest.fixture(scope="module")
def other(service: Service) -> Customer:
    return service.customer(shipping_method=STANDARD)


@pytest.fixture(scope="module")
def orders(service: Service, buyer: Customer, other: Customer) -> dict[str, dict[str, Any]]:
    """Orders of two customers, a day after each other, the pending one last."""
    sell(service, "BUNDLE", available=5, components=[{"sku": "CABLE", "quantity": 2}])
    placed = {}
    for day, (name, customer, items, reference) in enumerate(
        (
            ("dispatched", buyer, [("PHONE", 1)], "Job 7"),
            ("cancelled", buyer, [("PHONE", 1)], "Job 8"),
            ("bundle", buyer, [("BUNDLE", 1)], "Job 9"),
            ("back_ordered", other, [("SWITCH", 5)], "job 7 "),
        )
    ):
        with at(service, MORNING + timedelta(days=day)):
            placed[name] = buy(customer, items, customer_reference=reference)
    with at(service, MORNING + timedelta(days=4)):
        placed["pending"] = create(other, [("SWITCH", 1)], customer_reference="PO-1")
    dispatch(service, placed["dispatched"])
    cancel(service, placed["cancelled"])
    return placed


Lookup = dict[str, dict[str, Any]]


def listed(tradecounter: Program, orders: Lookup, *options: str) -> list[str]:
    """The names of those of the orders that `order list` finds, in its order."""
    names = {order["confirmation_code"]: name for name, order in orders.items()}
    codes = [found["confirmation_code"] for found in tradecounter.json("order", "list", *options)]
    return [names[code] for code in codes if code in names]


def test_without_options_all_are_listed_the_latest_first(tradecounter: Program, orders: Lookup) -> None:
    latest = ["pending", "back_ordered", "bundle", "cancelled", "dispatched"]
    assert listed(tradecounter, orders) == latest
    assert listed(tradecounter, orders, "--limit", "2") == latest[:2]


def test_orders_are_listed_by_customer_in_every_state(tradecounter: Program, orders: Lookup, buyer: Customer) -> None:
    found = listed(tradecounter, orders, "--customer", str(buyer.id))
    assert found == ["bundle", "cancelled", "dispatched"]
    assert tradecounter.error("order", "list", "--customer", "999") == "customer 999 not found"


def test_orders_are_listed_by_the_customers_reference_in_any_case(
    tradecounter: Program, orders: Lookup, buyer: Customer
) -> None:
    by_reference = ["--customer-reference", "JOB 7"]
    assert listed(tradecounter, orders, *by_reference) == ["back_ordered", "dispatched"]
    assert listed(tradecounter, orders, *by_reference, "--customer", str(buyer.id)) == ["dispatched"]
    assert listed(tradecounter, orders, "--customer-reference", " job 8") == ["cancelled"]
    assert listed(tradecounter, orders, "--customer-reference", "Job") == []


def test_orders_are_listed_by_reference_id_and_the_beginning_of_either(tradecounter: Program, orders: Lookup) -> None:
    reference = orders["bundle"]["order_reference"]
    number = reference.removeprefix("ORD-")
    for typed in (reference, reference.lower(), number, str(orders["bundle"]["order_id"])):
        assert listed(tradecounter, orders, "--reference", typed) == ["bundle"]
    for typed in (reference[:-1].lower(), number[:-1]):
        assert listed(tradecounter, orders, "--reference", typed) == [
            "back_ordered", "bundle", "cancelled", "dispatched"
        ]  # fmt: skip
    for typed in ("NONE-1", "ORD-", "0", reference[1:]):
        assert listed(tradecounter, orders, "--reference", typed) == []


def test_orders_are_listed_by_sku_including_bundle_components(tradecounter: Program, orders: Lookup) -> None:
    assert listed(tradecounter, orders, "--sku", "switch") == ["pending", "back_ordered"]
    assert listed(tradecounter, orders, "--sku", "CABLE") == ["bundle"]
    unknown = tradecounter.error("order", "list", "--sku", "SWICTH")
    assert unknown == "product SWICTH does not exist; did you mean SWITCH?"


def test_orders_are_listed_by_day_and_by_time_both_inclusive(tradecounter: Program, orders: Lookup) -> None:
    start = (MORNING + timedelta(days=1)).date().isoformat()
    end = (MORNING + timedelta(days=2)).date().isoformat()
    assert listed(tradecounter, orders, "--from", start, "--to", end) == ["bundle", "cancelled"]
    assert listed(tradecounter, orders, "--to", start) == ["cancelled", "dispatched"]
    moment = local_text(MORNING + timedelta(days=3))
    assert listed(tradecounter, orders, "--from", moment) == ["pending", "back_ordered"]
    assert listed(tradecounter, orders, "--from", moment, "--to", moment) == ["back_ordered"]
    assert "'yesterday' is neither a date" in tradecounter.misused("order", "list", "--from", "yesterday")


def test_orders_are_listed_by_status_in_any_case_and_unknown_ones_get_the_list(
    tradecounter: Program, orders: Lookup, other: Customer
) -> None:
    assert listed(tradecounter, orders, "--status", "BACK-ORDERED", "--customer", str(other.id)) == ["back_ordered"]
    assert listed(tradecounter, orders, "--status", "backordered") == ["back_ordered"]
    assert listed(tradecounter, orders, "--status", "Pending") == ["pending"]
    assert listed(tradecounter, orders, "--status", "completed") == []
    said = tradecounter.misused("order", "list", "--status", "shipped")
    known = "Awaiting dispatch, Back-ordered, Part dispatched, Dispatched, Part invoiced,"
    assert f"'shipped' is not one of: {known}" in said


def shown(tradecounter: Program, name: str) -> Any:
    return tradecounter.json("order", "show", name)["confirmation_code"]


def test_an_order_is_shown_by_the_customers_reference(tradecounter: Program, orders: Lookup) -> None:
    assert shown(tradecounter, "job 9") == orders["bundle"]["confirmation_code"]
    error = tradecounter.error("order", "show", "JOB 7")
    assert error.startswith("JOB 7 is the customer's reference of several orders: ")
    for name in ("dispatched", "back_ordered"):
        assert f"{orders[name]['order_reference']} (customer " in error


def test_an_order_is_shown_by_the_unique_beginning_of_its_code(tradecounter: Program, orders: Lookup) -> None:
    for order in orders.values():
        code = order["confirmation_code"]
        assert shown(tradecounter, code[:20].upper()) == code
    assert tradecounter.error("order", "show", "fff") == "order fff not found"


def test_a_change_takes_the_beginning_of_a_code_as_its_help_says(tradecounter: Program, orders: Lookup) -> None:
    order = orders["bundle"]
    noted = tradecounter.json("order", "note", order["confirmation_code"][:20], "Call first.")
    assert noted["order_reference"] == order["order_reference"]
    text = " ".join(tradecounter.text("order", "note", "-h").split())
    assert "The order's reference, id or confirmation code, or the code's beginning." in text


def test_an_order_is_found_in_any_case_and_by_a_unique_prefix(
    tradecounter: Program, orders: Lookup, service: Service
) -> None:
    reference = orders["bundle"]["order_reference"]
    for name in (reference.lower(), f" {reference} "):
        assert shown(tradecounter, name) == orders["bundle"]["confirmation_code"]
    error = tradecounter.error("order", "show", reference[:-1])
    assert error.startswith(f"several references begin with {reference[:-1]}: ")
    assert f"{reference} (customer " in error
    plain = buy(service.customer(packing="plain"))
    assert shown(tradecounter, plain["order_reference"][:-1]) == plain["confirmation_code"]


def test_a_change_does_not_accept_a_reference_prefix_and_lists_the_candidates(
    tradecounter: Program, orders: Lookup
) -> None:
    reference = orders["bundle"]["order_reference"]
    for words in (["dispatch"], ["invoice"], ["cancel", "--reason", "No"], ["pay", "5"]):
        command, *rest = words
        error = tradecounter.error("order", command, reference[:-1], *rest)
        assert error.startswith(f"order {reference[:-1]} not found; references with this beginning: ")
        assert f"{reference} (customer " in error
    error = tradecounter.error("order", "cancel", "job 9", "--reason", "No")
    assert error == "order job 9 not found"


def test_an_ambiguous_code_prefix_is_rejected_with_the_candidates(
    tradecounter: Program, service: Service, other: Customer
) -> None:
    codes = [create(other)["confirmation_code"] for _ in range(2)]
    similar = [f"abcdef{number}".ljust(32, "0") for number in range(2)]
    with psycopg.connect(service.database_url, autocommit=True) as database:
        for code, new in zip(codes, similar, strict=True):
            database.execute("update orders set confirmation_code = %s where confirmation_code = %s", [new, code])
    error = tradecounter.error("order", "cancel", "ABCD", "--reason", "No")
    assert error.startswith("several confirmation codes begin with abcd: ")
    assert all(code in error for code in similar)
    assert [shown(tradecounter, code[:7]) for code in similar] == similar


def test_a_number_is_no_beginning_of_a_code(tradecounter: Program, service: Service, other: Customer) -> None:
    code = request_quote(other)["confirmation_code"]
    new = f"98765{code[5:]}"
    with psycopg.connect(service.database_url, autocommit=True) as database:
        database.execute("update orders set confirmation_code = %s where confirmation_code = %s", [new, code])
    assert tradecounter.error("order", "show", "98765") == "order 98765 not found"
    assert tradecounter.error("quote", "decline", "98765", "--reason", "Gone") == "quote 98765 not found"
    assert tradecounter.json("quote", "show", new)["confirmation_code"] == new


def test_a_quote_is_shown_and_priced_by_the_beginning_of_its_code(tradecounter: Program, other: Customer) -> None:
    code = request_quote(other)["confirmation_code"]
    assert tradecounter.json("quote", "show", code[:24])["confirmation_code"] == code
    priced = tradecounter.json("quote", "price", code[:24], "--item", "PHONE=41.50")
    assert (priced["confirmation_code"], priced["items"][0]["unit_cost"]) == (code, 41.5)
    assert tradecounter.error("quote", "show", "0" * 12) == f"quote {'0' * 12} not found"
