"""The response to a creation or confirmation, built in memory, equals the stored order byte for byte."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.orders import confirm, sell
from support.service import Customer, Service
from support.shop import ADDRESS, EUROPE, GERMAN_ADDRESS, NEXT_DAY, STANDARD, order
from tradecounter.db.transaction import Transaction
from tradecounter.kit.json_text import to_json
from tradecounter.kit.text import is_blank
from tradecounter.orders.lines import with_components
from tradecounter.orders.present import created_order
from tradecounter.orders.queries.orders import pipe_by_code, pipe_lines_by_code

SKUS = ("PHONE", "CABLE", "SWITCH", "KIT", "FEATHER", "COMING")
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=20).filter(
    lambda text: not is_blank(text)
)
CONTACTS = st.none() | st.fixed_dictionaries(
    {}, optional={"email_address": st.just("a@b.example"), "phone_number": TEXT | st.none()}
)


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    sell(shop, "KIT", "99.90", components=[{"sku": "PHONE", "quantity": 2}, {"sku": "CABLE", "quantity": 3}])
    sell(shop, "FEATHER", "0.01", weight_kg="0.001", available=5)
    sell(shop, "COMING", "12.34", weight_kg="1.125")
    shop.must_load("incoming", [{"sku": "COMING", "incoming": 20, "expected_on": "2026-07-01T09:00:00"}])
    found = shop.customer(credit="100000000.00")
    found.post("/customer/address", {**ADDRESS, "company_name": "Ädd & Co", "contact_number": "0113 496 0000"})
    return found


@pytest.fixture(scope="module")
def saved(customer: Customer) -> int:
    [address] = customer.get("/customer/address").json()
    return int(address["id"])


def bodies(saved: int) -> st.SearchStrategy[dict[str, Any]]:
    items = st.lists(st.tuples(st.sampled_from(SKUS), st.integers(1, 30)), min_size=1, max_size=6)
    at_home = st.fixed_dictionaries(
        {"shipping_address": st.sampled_from([ADDRESS, {"id": saved}])},
        optional={"shipping_method": st.sampled_from([{"id": NEXT_DAY}, None])},
    )
    abroad = st.fixed_dictionaries(
        {"shipping_address": TEXT.map(lambda name: {**GERMAN_ADDRESS, "contact_name": name, "state": None})},
        optional={"shipping_method": st.just({"id": EUROPE})},
    )
    rest = st.fixed_dictionaries(
        {"customer_reference": TEXT, "billing_address": st.sampled_from([ADDRESS, GERMAN_ADDRESS, {"id": saved}])},
        optional={
            "external_customer_id": TEXT,
            "order_notifications": CONTACTS,
            "courier_notifications": CONTACTS,
            "auto_confirm": st.sampled_from([False, None]),
        },
    )
    return st.builds(lambda lines, where, more: order(lines, **where, **more), items, at_home | abroad, rest).filter(
        lambda body: sum(item["quantity"] for item in body["items"]) <= 90
    )


def read_back(shop: Service, customer: Customer, code: str, *, auto_confirm: bool | None) -> bytes:
    async def read(tx: Transaction) -> bytes:
        async with tx.pipeline() as p:
            found, lines = pipe_by_code(p, customer.id, code), pipe_lines_by_code(p, customer.id, code)
        return to_json(created_order(found.row, with_components(lines.rows), auto_confirm=auto_confirm))

    return shop.in_transaction(read)


@pytest.mark.parametrize("path", ["/order", "/quote"])
def test_the_response_to_a_creation_equals_the_stored_order(
    shop: Service, customer: Customer, saved: int, path: str
) -> None:
    created = 0

    @settings(max_examples=25, deadline=None)
    @given(body=bodies(saved))
    def compare(body: dict[str, Any]) -> None:
        nonlocal created
        response = customer.post(path, body)
        if response.status_code == 400:  # too heavy for every method
            assert "shipping" in response.json()["message"]
            return
        assert response.status_code == 201, response.text
        code, auto_confirm = response.json()["confirmation_code"], body.get("auto_confirm")
        assert response.content == read_back(shop, customer, code, auto_confirm=auto_confirm)
        created += 1

    compare()
    assert created > 10


@pytest.mark.parametrize("sku", SKUS)
@pytest.mark.parametrize("auto_confirm", [False, True])
def test_the_response_to_a_confirmation_equals_the_stored_order(
    shop: Service, customer: Customer, sku: str, *, auto_confirm: bool
) -> None:
    body = order([(sku, 3), ("PHONE", 1)], shipping_method={"id": STANDARD}, order_notifications={"phone_number": "1"})
    response = customer.post("/order", {**body, "auto_confirm": auto_confirm})
    if not auto_confirm:
        response = confirm(customer, response.json(), NEXT_DAY)
    assert response.json()["order_id"]
    code = response.json()["confirmation_code"]
    assert response.content == read_back(shop, customer, code, auto_confirm=auto_confirm or None)
