"""`approval` and `user edit`: orders above a user's limit, decided at a terminal."""

import json

import pytest

from support.agent_consent import connecting
from support.agents import priced
from support.command_line import Forker, Program
from support.pages import Person, customer_user
from support.service import Customer, Service
from support.shop import STANDARD, order

pytestmark = pytest.mark.sweep  # seconds for each of its stories


@pytest.fixture(scope="module")
def tradecounter(shop: Service, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    return Program(tmp_path_factory.mktemp("approvals"), shop.database_url, forker)


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer()


def asked(tradecounter: Program, customer: Customer, buyer: Person) -> str:
    """An order of today, when the commands are run, that waits for approval."""
    path = tradecounter.folder / "order.json"
    path.write_text(json.dumps(order([("PHONE", 2)])))
    code: str = tradecounter.json("order", "create", str(customer.id), "--file", "order.json")["confirmation_code"]
    buyer.sends(f"/account/new-order/{code}/approval", {"shipping_method": str(STANDARD)})
    return code


def test_orders_are_approved_and_declined(tradecounter: Program, shop: Service, customer: Customer) -> None:
    buyer = customer_user(shop, customer.id, "buyer")
    first, second = (asked(tradecounter, customer, buyer) for _ in range(2))
    options = ("--state", "waiting", "--customer", str(customer.id))
    waiting = tradecounter.json("approval", "list", *options)
    assert [each["confirmation_code"] for each in waiting] == [second, first]
    assert tradecounter.json("approval", "approve", first)["state"] == "approved"
    declined = tradecounter.json("approval", "decline", second, "--reason", "Next month")
    assert (declined["state"], declined["reason"]) == ("declined", "Next month")
    assert tradecounter.json("approval", "list", *options) == []
    assert "it is approved or declined already" in tradecounter.error("approval", "approve", second)
    assert customer.get(f"/order/{first}").json()["status"] == "Awaiting dispatch"


def test_a_request_of_an_agent_names_the_agent_and_who_allowed_it(
    tradecounter: Program, shop: Service, customer: Customer
) -> None:
    owner = customer_user(shop, customer.id, "owner")
    helper = connecting(shop, owner).agent(order_limit="1", day_limit="1")
    helper.call("confirm_order", **priced(helper))
    options = ("--customer", str(customer.id), "--columns", "requested_by,agent")
    assert tradecounter.text("approval", "list", *options).split() == [
        "requested_by",
        "agent",
        owner.email,
        "Assistant",
    ]


def test_a_users_limit_and_roles_are_set(tradecounter: Program, shop: Service, customer: Customer) -> None:
    buyer = customer_user(shop, customer.id, "buyer")
    edited = tradecounter.json("user", "edit", buyer.email, "--limit", "250.50")
    assert edited == {"email": buyer.email, "roles": ["buyer"], "order_limit": 250.5}
    said = tradecounter.text("user", "edit", buyer.email, "--role", "accounts", "--role", "buyer")
    assert said == f"{buyer.email} is buyer, accounts, with a limit of £250.50 for one order\n"
    assert tradecounter.json("user", "edit", buyer.email, "--no-limit")["order_limit"] is None
    assert tradecounter.error("user", "edit", buyer.email, "--limit", "0").startswith("--limit: must be more than 0")
    assert "either --limit or --no-limit" in tradecounter.misused(
        "user", "edit", buyer.email, "--limit", "5", "--no-limit"
    )
    assert "not found" in tradecounter.error("user", "edit", "nobody@shop.example", "--no-limit")
