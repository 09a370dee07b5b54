"""`customer`, `key` and `order`: what they do, print and reject; keys and orders checked against the running API."""

import json
from datetime import timedelta
from typing import Any

import pytest

from support.command_line import Forker, Program
from support.orders import at
from support.service import MORNING, Service
from support.shop import STANDARD, order, stock_shop

pytestmark = pytest.mark.sweep  # seconds for each of its stories

ADA = ["--email", "Ada@shop.example", "--first-name", "Ada", "--last-name", "Example"]
FULL = [
    "--company", "[red]Ada & Co[/red] :smile:", "--accounts-email", "pay@shop.example", "--trade", "--price-list",
    "default", "--discount", "2.5", "--credit-limit", "5000", "--term-days", "30", "--packing", "plain",
    "--shipping-method", "11", "--unique-references", "--no-order-mails",
]  # fmt: skip


@pytest.fixture(scope="module")
def tradecounter(service: Service, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    stock_shop(service)
    return Program(tmp_path_factory.mktemp("accounts"), service.database_url, forker)


@pytest.fixture(scope="module")
def ada(tradecounter: Program) -> dict[str, Any]:
    """The customer with every option set, as `customer add --json` printed it."""
    added: dict[str, Any] = tradecounter.json("customer", "add", *ADA, *FULL)
    return added


# --- customers ---------------------------------------------------------------------------------------------------


def test_a_customer_is_added_with_all_options(ada: dict[str, Any], tradecounter: Program) -> None:
    assert ada.pop("created_at")
    assert ada == {
        "id": ada["id"],
        "email_address": "Ada@shop.example",
        "first_name": "Ada",
        "last_name": "Example",
        "company": "[red]Ada & Co[/red] :smile:",
        "accounts_email": "pay@shop.example",
        "trade_account": True,
        "price_list": "default",
        "discount": 2.5,
        "credit_limit": 5000,
        "term_days": 30,
        "packing": "plain",
        "shipping_method": 11,
        "unique_references": True,
        "order_mails": False,
        "blocked": False,
        "blocked_reason": None,
        "external_id": None,
    }
    assert isinstance(ada["id"], int)
    shown = tradecounter.json("customer", "show", str(ada["id"]))
    assert {name: shown[name] for name in ada} == ada


def test_a_customer_without_options_has_no_credit_and_the_default_prices(tradecounter: Program) -> None:
    name = ["--email", "bare@shop.example", "--first-name", "Bo", "--last-name", "Bare"]
    added = tradecounter.json("customer", "add", *name)
    assert (added["credit_limit"], added["term_days"], added["price_list"]) == (None, None, None)
    assert (added["trade_account"], added["unique_references"], added["packing"]) == (False, False, "own")
    assert (added["company"], added["accounts_email"], added["discount"]) == ("", None, 0)
    assert added["order_mails"] is True
    assert tradecounter.json("customer", "edit", str(added["id"]), "--no-order-mails")["order_mails"] is False


def test_amounts_keep_their_pence(ada: dict[str, Any], tradecounter: Program) -> None:
    assert '"credit_limit":5000.00' in tradecounter.run("customer", "show", str(ada["id"]), "--json").out
    assert "5000.00" in tradecounter.text("customer", "show", str(ada["id"]))


def test_editing_changes_only_the_given_options(tradecounter: Program) -> None:
    name = ["--email", "edit@shop.example", "--first-name", "Ed", "--last-name", "Ited"]
    before = tradecounter.json("customer", "add", *name, *FULL)
    customer_id = str(before["id"])
    change = ["--company", "New Ltd", "--no-trade", "--discount", "0", "--no-unique-references", "--packing", "own"]
    after = tradecounter.json("customer", "edit", customer_id, *change)
    changed = {
        "company": "New Ltd",
        "trade_account": False,
        "discount": 0,
        "unique_references": False,
        "packing": "own",
    }
    assert after == {**before, **changed}
    assert "has more than 2 decimal places" in tradecounter.misused(
        "customer", "edit", customer_id, "--credit-limit", "0.005"
    )
    shown = tradecounter.json("customer", "show", customer_id)
    assert {name: shown[name] for name in after} == after
    without = tradecounter.json("customer", "edit", customer_id, "--no-credit")
    assert (without["credit_limit"], without["term_days"]) == (None, None)
    again = tradecounter.json("customer", "edit", customer_id, "--credit-limit", "10", "--term-days", "0")
    assert (again["credit_limit"], again["term_days"]) == (10, 0)


def test_customers_are_listed_for_programs_and_for_people(ada: dict[str, Any], tradecounter: Program) -> None:
    listed = tradecounter.json("customer", "list")
    assert [customer["id"] for customer in listed] == sorted(customer["id"] for customer in listed)
    [found] = [customer for customer in listed if customer["id"] == ada["id"]]
    assert found["email_address"] == "Ada@shop.example"
    text = tradecounter.text("customer", "list")
    [row] = [line for line in text.splitlines() if "Ada@shop.example" in line]
    assert "[red]Ada & Co[/red] :smile:" in row
    assert "5000.00" in row
    assert tradecounter.text("customer", "show", str(ada["id"])).count("[red]Ada & Co[/red] :smile:") == 1


def test_invalid_customer_changes_are_rejected_and_change_nothing(ada: dict[str, Any], tradecounter: Program) -> None:
    before = tradecounter.json("customer", "list")
    ada_id, other = str(ada["id"]), ["--email", "x@shop.example", "--first-name", "X", "--last-name", "Y"]
    taken = "email_address: ada@SHOP.example is another customer's"
    assert tradecounter.error("customer", "add", "--email", "ada@SHOP.example", *ADA[2:]) == taken
    unknown_list = "--price-list: price list 'none' does not exist: import it first"
    assert tradecounter.error("customer", "add", *other, "--price-list", "none") == unknown_list
    assert tradecounter.error("customer", "edit", ada_id, "--price-list", "none", "--company", "X") == unknown_list
    assert "at least one option is required" in tradecounter.misused("customer", "edit", ada_id)
    for words in (["edit", "999", "--company", "X"], ["show", "999"], ["edit", "999", "--no-credit"]):
        assert tradecounter.error("customer", *words, "--json") == "customer 999 not found"
    no_terms = tradecounter.json(
        "customer", "add", "--email", "nt@shop.example", "--first-name", "N", "--last-name", "T"
    )
    assert "go together" in tradecounter.error("customer", "edit", str(no_terms["id"]), "--credit-limit", "5")
    after = tradecounter.json("customer", "list")
    assert after == [*before, no_terms]


# --- keys --------------------------------------------------------------------------------------------------------


def test_a_key_works_until_it_is_disabled(ada: dict[str, Any], tradecounter: Program, service: Service) -> None:
    made = tradecounter.json("key", "add", str(ada["id"]), "--name", "till 3")
    assert set(made) == {"id", "key"}
    assert len(made["key"]) == 64
    client = service.client(**{"X-Api-Key": made["key"]})
    assert client.get("/customer").json()["email_address"] == "Ada@shop.example"
    [listed] = [key for key in tradecounter.json("key", "list", str(ada["id"])) if key["id"] == made["id"]]
    assert (listed["name"], listed["disabled_at"], listed["customer_id"]) == ("till 3", None, ada["id"])
    assert made["key"].startswith(listed["prefix"])
    assert made["key"] not in json.dumps(listed)
    assert tradecounter.json("key", "disable", str(made["id"])) == {
        "id": made["id"],
        "disabled": True,
        "name": "till 3",
        "customer_id": ada["id"],
        "customer": ada["company"],
    }
    service.refresh()
    assert client.get("/customer").status_code == 401
    [listed] = [key for key in tradecounter.json("key", "list", str(ada["id"])) if key["id"] == made["id"]]
    assert listed["disabled_at"] is not None


def test_keys_are_shown_to_people_too(ada: dict[str, Any], tradecounter: Program, service: Service) -> None:
    text = tradecounter.text("key", "add", str(ada["id"]))
    key = next(word for word in text.split() if len(word) == 64)
    assert "not shown again" in text
    assert service.client(**{"X-Api-Key": key}).get("/customer").status_code == 200
    listed = tradecounter.text("key", "list", str(ada["id"]))
    assert key[:8] in listed
    assert key not in listed
    key_id = text.split(":")[0].removeprefix("key ")
    for _ in range(2):
        assert tradecounter.text("key", "disable", key_id) == (
            f"key {key_id} (API key) of customer {ada['id']} ({ada['company']}) is disabled\n"
        )
    entries = tradecounter.json("audit", "--subject", f"customer/{ada['id']}", "--action", "key.disable")
    assert [entry["after"]["id"] for entry in entries].count(int(key_id)) == 1


def test_a_key_is_made_with_limits(ada: dict[str, Any], tradecounter: Program, service: Service) -> None:
    limits = ["--scope", "order", "--scope", "read", "--expires", "2031-06-16", "--network", "203.0.113.7"]
    made = tradecounter.json("key", "add", str(ada["id"]), *limits)
    listed = tradecounter.json("key", "list", str(ada["id"]))[-1]
    assert (listed["scopes"], listed["networks"]) == (["read", "order"], ["203.0.113.7/32"])
    assert listed["expires_at"] == "2031-06-16T23:00:00Z"
    client = service.client(**{"X-Api-Key": made["key"], "X-Forwarded-For": "203.0.113.7"})
    assert (client.get("/order").status_code, client.get("/customer").status_code) == (200, 403)


def test_limits_of_a_key_that_are_not_valid_are_rejected(ada: dict[str, Any], tradecounter: Program) -> None:
    before = tradecounter.json("key", "list", str(ada["id"]))
    for option, value, message in (
        ("--scope", "write", "--scope write: 'write' is not one of read, order, account"),
        ("--expires", "2020-06-16", "--expires: must be in the future, before the year 9999"),
        ("--network", "here", "--network here: must be a network such as 203.0.113.0/24, or an address"),
    ):
        assert tradecounter.error("key", "add", str(ada["id"]), option, value) == message
    assert tradecounter.json("key", "list", str(ada["id"])) == before


def test_keys_of_unknown_customers_are_rejected(tradecounter: Program) -> None:
    assert tradecounter.error("key", "add", "999") == "customer 999 not found"
    assert tradecounter.error("key", "list", "999", "--json") == "customer 999 not found"
    assert tradecounter.error("key", "disable", "999", "--json") == "key 999 not found"


# --- orders ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def orders(tradecounter: Program, service: Service) -> dict[str, dict[str, Any]]:
    """A confirmed order, a back-ordered one and a pending one, as the API returned it."""
    assert tradecounter.url == service.database_url
    buyer = service.customer(shipping_method=STANDARD)
    confirmed = buyer.post("/order", json=order([("PHONE", 2), ("CABLE", 5)], auto_confirm=True)).json()
    late = buyer.post("/order", json=order([("SWITCH", 5)], auto_confirm=True, customer_reference="\x1b[31mred")).json()
    pending = buyer.post("/order", json=order(customer_reference="PO-9")).json()
    return {"confirmed": confirmed, "late": late, "pending": pending}


def test_orders_are_listed_latest_first_and_by_status(orders: dict[str, dict[str, Any]], tradecounter: Program) -> None:
    listed = tradecounter.json("order", "list")
    codes = [found["confirmation_code"] for found in listed]
    assert codes == [orders[name]["confirmation_code"] for name in ("pending", "late", "confirmed")]
    assert [found["state"] for found in listed] == ["pending", "confirmed", "confirmed"]
    for status, wanted in (
        ("Awaiting dispatch", ["confirmed"]),
        ("back-ordered", ["late"]),
        ("pending", ["pending"]),
        ("confirmed", ["late", "confirmed"]),
        ("expired", []),
        ("Cancelled", []),
    ):
        found = tradecounter.json("order", "list", "--status", status)
        assert [o["confirmation_code"] for o in found] == [orders[name]["confirmation_code"] for name in wanted]
        assert found == tradecounter.json("order", "list", "--status", status.upper().replace("-", " "))
    assert len(tradecounter.json("order", "list", "--limit", "1")) == 1
    shown = tradecounter.text("order", "list")
    assert orders["pending"]["confirmation_code"] in shown
    assert orders["confirmed"]["confirmation_code"] not in shown


def test_an_order_confirmed_late_is_listed_by_its_confirmation(service: Service, tradecounter: Program) -> None:
    buyer = service.customer(shipping_method=STANDARD)
    early, late = (buyer.post("/order", json=order()).json()["confirmation_code"] for _ in range(2))
    with at(service, MORNING + timedelta(hours=2)):
        assert buyer.put(f"/order/{early}").status_code == 200
        listed = tradecounter.json("order", "list")
    ours = [found for found in listed if found["confirmation_code"] in {early, late}]
    assert [found["confirmation_code"] for found in ours] == [early, late]
    assert ours[0]["created_on"] > ours[1]["created_on"]


def test_an_order_is_shown_by_id_reference_and_code(orders: dict[str, dict[str, Any]], tradecounter: Program) -> None:
    placed = orders["confirmed"]
    by_id, by_reference, by_code = (
        tradecounter.json("order", "show", str(placed[name]))
        for name in ("order_id", "order_reference", "confirmation_code")
    )
    assert by_id == by_reference == by_code
    assert (by_id["id"], by_id["status"]) == (placed["order_id"], "Awaiting dispatch")
    assert [(i["sku"], i["quantity"], i["allocated"], i["back_ordered"]) for i in by_id["items"]] == [
        ("PHONE", 2, 2, 0),
        ("CABLE", 5, 5, 0),
    ]
    assert by_id["cost_net"] == placed["cost_net"]
    assert by_id["cost_gross"] == placed["cost_gross"]
    shipping = by_id["shipping_cost_net"] + by_id["shipping_cost_tax"]
    assert by_id["total"] == pytest.approx(by_id["cost_gross"] + shipping)
    assert by_id["shipping_description"] == (
        f"{placed['shipping_method']['provider']}, {placed['shipping_method']['description']}"
    )
    assert tradecounter.json("order", "show", orders["pending"]["confirmation_code"])["total"] is None
    late = tradecounter.json("order", "show", orders["late"]["order_reference"])
    assert [(i["quantity"], i["allocated"], i["back_ordered"]) for i in late["items"]] == [(5, 3, 2)]


def test_control_characters_of_orders_are_not_printed(orders: dict[str, dict[str, Any]], tradecounter: Program) -> None:
    listed = tradecounter.text("order", "list")
    assert orders["confirmed"]["order_reference"] in listed
    assert "\\x1b[31mred" in listed
    shown = tradecounter.text("order", "show", orders["late"]["order_reference"])
    assert "SWITCH" in shown
    assert "\x1b" not in listed + shown
    assert tradecounter.text("order", "list", "--status", "expired") == "nothing found\n"


def test_an_unknown_order_is_rejected(tradecounter: Program) -> None:
    for reference in ("ORD-2", "123456789", "9" * 40, "%", "0", "f" * 31):
        assert tradecounter.error("order", "show", reference, "--json") == f"order {reference} not found"
