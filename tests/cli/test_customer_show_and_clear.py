"""`customer show` with all that belongs to a customer, and `customer edit` where it makes something empty."""

import zipfile
from datetime import timedelta
from typing import Any

import pytest

from support.billing import invoiced
from support.command_line import Forker, Program
from support.orders import at, buy
from support.service import MORNING, Service
from support.shop import ADDRESS, STANDARD

NAME = ["--email", "clear@shop.example", "--first-name", "Cleo", "--last-name", "Clear"]


@pytest.fixture(scope="module")
def tradecounter(shop: Service, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    return Program(tmp_path_factory.mktemp("customers"), shop.database_url, forker)


@pytest.fixture(scope="module")
def added(tradecounter: Program) -> dict[str, Any]:
    """A customer of whom everything is set that may be empty."""
    found: dict[str, Any] = tradecounter.json(
        "customer", "add", *NAME, "--company", "Clear Ltd", "--accounts-email", "pay@shop.example",
        "--price-list", "default", "--shipping-method", str(STANDARD), "--credit-limit", "10", "--term-days", "1",
    )  # fmt: skip
    return found


def test_a_customer_is_shown_with_credit_addresses_and_keys(tradecounter: Program, shop: Service) -> None:
    buyer = shop.customer(credit="1000.00")
    address = buyer.post("/customer/address", ADDRESS).json()
    gone = buyer.post("/customer/address", ADDRESS).json()
    buyer.delete(f"/customer/address/{gone['id']}")
    shown = tradecounter.json("customer", "show", str(buyer.id))
    assert shown["credit"] == {
        "credit_limit": 1000, "total_outstanding": 0, "available_credit": 1000, "unallocated": 0, "overdue": 0,
    }  # fmt: skip
    assert shown["addresses"] == [address]
    [key] = shown["keys"]
    limits = {"scopes", "expires_at", "networks"}
    assert key.keys() == {"id", "name", "prefix", "created_at", "last_used_at", "disabled_at", *limits}
    assert buyer.key.startswith(key["prefix"])
    text = tradecounter.text("customer", "show", str(buyer.id))
    assert "credit.available_credit   1000.00\n" in text
    assert all(line.split(maxsplit=1)[1:] for line in text.split("\n\n")[0].splitlines()), "no value is left blank"
    assert str(address["id"]) in text.split("\nAddresses\n")[1]
    assert key["prefix"] in text.split("\nAPI keys\n")[1]
    assert buyer.key not in text


def test_credit_used_counts_orders_and_overdue_counts_invoices(tradecounter: Program, shop: Service) -> None:
    buyer = shop.customer(credit="1000.00", term_days=0)
    with at(shop, MORNING - timedelta(days=900)):
        invoiced(shop, buyer)
        buy(buyer)  # not invoiced: there is nothing to pay yet
    with at(shop, MORNING + timedelta(days=20_000)):
        buy(buyer)
    overview = buyer.get("/customer/credit").json()
    credit = tradecounter.json("customer", "show", str(buyer.id))["credit"]
    assert [order["is_overdue"] for order in overview["outstanding_orders"]] == [True, True, False]
    assert credit.pop("overdue") == 66.60
    assert credit.pop("unallocated") == 0
    assert credit == {name: overview[name] for name in credit}
    assert (credit["total_outstanding"], credit["available_credit"]) == (199.80, 800.20)


def test_without_credit_terms_the_limit_is_null(tradecounter: Program, shop: Service) -> None:
    buyer = shop.customer(credit=None)
    shown = tradecounter.json("customer", "show", str(buyer.id))
    assert (shown["credit_limit"], shown["credit"]["credit_limit"], shown["addresses"]) == (None, 0, [])


@pytest.mark.parametrize(
    ("name", "member", "empty"),
    [
        ("company", "company", ""),
        ("accounts-email", "accounts_email", None),
        ("price-list", "price_list", None),
        ("shipping-method", "shipping_method", None),
    ],
)
def test_clearing_a_member_leaves_the_other_members_unchanged(
    tradecounter: Program, added: dict[str, Any], name: str, member: str, empty: str | None
) -> None:
    before = tradecounter.json("customer", "show", str(added["id"]))
    assert before[member]
    tradecounter.json("customer", "edit", str(added["id"]), "--clear", name)
    assert tradecounter.json("customer", "show", str(added["id"])) == {**before, member: empty}


def test_members_can_be_cleared_and_set_in_one_command(tradecounter: Program, added: dict[str, Any]) -> None:
    options = ["--clear", "company", "--clear", "price-list", "--first-name", "New", "--no-credit"]
    changed = tradecounter.json("customer", "edit", str(added["id"]), *options)
    assert (changed["company"], changed["price_list"], changed["first_name"]) == ("", None, "New")
    assert (changed["credit_limit"], changed["term_days"]) == (None, None)


def test_clearing_and_setting_the_same_member_is_a_usage_error(tradecounter: Program, added: dict[str, Any]) -> None:
    edit = ["customer", "edit", str(added["id"])]
    said = tradecounter.misused(*edit, "--clear", "price-list", "--price-list", "default")
    assert "--clear price-list contradicts --price-list" in said
    assert "'email' is not one of" in tradecounter.misused(*edit, "--clear", "email")


def test_an_unknown_shipping_method_is_rejected_with_a_list_of_known_ones(
    tradecounter: Program, shop: Service, added: dict[str, Any]
) -> None:
    shop.must_load("shipping-methods", [{"id": 98, "provider": "P", "description": "", "region": 1, "countries": ["GB"],
                                         "max_weight_kg": 1, "base_cost_net": 1}])  # fmt: skip
    tradecounter.run("customer", "edit", str(added["id"]), "--shipping-method", "98")
    before = tradecounter.json("customer", "list")
    known = "11 (Slowpost, region 1), 12 (Fastvan, region 1), 71 (Eurovan, region 7), 98 (P, region 1)"
    reason = f"--shipping-method: method 99 does not exist; the active methods are {known}"
    assert tradecounter.error("customer", "edit", str(added["id"]), "--shipping-method", "99") == reason
    other = ["--email", "other@shop.example", *NAME[2:], "--shipping-method", "99"]
    assert tradecounter.error("customer", "add", *other) == reason
    assert tradecounter.json("customer", "list") == before


def test_a_customer_is_exported_and_erased(tradecounter: Program) -> None:
    added = tradecounter.json(
        "customer", "add", "--email", "gone@shop.example", "--first-name", "Go", "--last-name", "Ne"
    )
    customer, file = str(added["id"]), tradecounter.folder / "copy.zip"
    assert tradecounter.json("customer", "export", customer, "-o", "copy.zip") == {
        "id": added["id"],
        "file": "copy.zip",
    }
    assert file.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(file) as archive:
        assert b"gone@shop.example" in archive.read("customer.json")
    assert tradecounter.error("customer", "export", customer, "-o", "copy.zip") == "copy.zip: File exists"
    assert tradecounter.run("customer", "export", customer, "-o", "-").output.startswith(b"PK")
    assert tradecounter.text("customer", "erase", customer, "--yes") == f"customer {customer} is erased\n"
    assert tradecounter.error("customer", "erase", customer, "--yes") == f"customer {customer} is already erased"
    assert tradecounter.json("customer", "show", customer)["first_name"] == "Erased"


def test_an_erasure_says_what_goes_and_wants_an_answer(tradecounter: Program) -> None:
    names = ["--email", "ask@shop.example", "--first-name", "As", "--last-name", "K", "--company", "Ask & Sons"]
    customer = str(tradecounter.json("customer", "add", *names)["id"])
    tradecounter.json("key", "add", customer)
    tradecounter.json("key", "add", customer)
    goes = f"this erases customer {customer}, Ask & Sons (ask@shop.example), with 1 user, 2 API keys"
    assert tradecounter.text("customer", "erase", customer, "--dry-run") == f"{goes}\n"
    shown = tradecounter.json("customer", "erase", customer, "--dry-run", "--yes")
    assert (shown["erased"], shown["name"], shown["users"], shown["keys"]) == (False, "Ask & Sons", 1, 2)
    unasked = f"{goes}. Nothing was changed; repeat the command with --yes"
    assert tradecounter.error("customer", "erase", customer) == unasked
    assert tradecounter.json("customer", "show", customer)["email_address"] == "ask@shop.example"
    done = tradecounter.json("customer", "erase", customer, "--yes")
    assert done == {**shown, "erased": True}


def test_on_a_terminal_an_erasure_asks(tradecounter: Program) -> None:
    names = ["--email", "tty@shop.example", "--first-name", "T", "--last-name", "Y"]
    customer = str(tradecounter.json("customer", "add", *names)["id"])
    rejected = tradecounter.answered("customer", "erase", customer, answer="n")
    assert (rejected.status, rejected.out) == (1, "")
    assert "Erase them for good? [y/N]" in rejected.err
    assert rejected.err.endswith("error: nothing was changed\n")
    assert tradecounter.json("customer", "show", customer)["email_address"] == "tty@shop.example"
    agreed = tradecounter.answered("customer", "erase", customer, answer="y")
    assert (agreed.status, agreed.out) == (0, f"customer {customer} is erased\n")
    assert tradecounter.json("customer", "show", customer)["first_name"] == "Erased"
