"""Orders with random damage are either created or rejected without a trace; they never cause a fault."""

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fuzzed import fuzzed
from support.service import Customer, Service
from support.shop import ADDRESS, GERMAN_ADDRESS, STANDARD, order
from support.written import written

pytestmark = pytest.mark.sweep

Place = tuple[str | int, ...]

ORDER: dict[str, Any] = {
    **order([("PHONE", 2), ("CABLE", 10)]),
    "billing_address": {**ADDRESS, "company_name": "Example", "contact_number": "0113 496 0000", "tax_number": "1"},
    "shipping_address": {**ADDRESS, "state": "Yorkshire", "street_two": "", "street_three": "x"},
    "shipping_method": {"id": STANDARD},
    "shipping_region": 1,
    "external_customer_id": "E-1",
    "order_notifications": {"email_address": "a@b.example", "phone_number": "1"},
    "courier_notifications": {"email_address": "a@b.example", "phone_number": "1"},
    "auto_confirm": False,
}

# Values with a meaning for the service, and any others, even those that only a broken encoder would send.
meaningful = st.sampled_from(
    ["", "GB", "DE", "UK", "PHONE", "phone", "SWITCH", "NONE", 0, 1, -1, 5, 11, 71, 5001, 100_000, 100_001,
     2**31, 2**63, 10**30, 1.0, 1.5, -0.0, 1e308, float("nan"), float("inf"), True, False, None, [], {}, ADDRESS,
     GERMAN_ADDRESS, {"id": 11}, {"id": 71}, {"id": 5001}, {"sku": "PHONE", "quantity": 1},
     [{"sku": "CABLE", "quantity": 3}], "\x00", "\ud800", "\udfff", "\ufeff", "a" * 300]
)  # fmt: skip
names = st.sampled_from([*ORDER, *ADDRESS, "id", "sku", "quantity", "cost_net", "confirmation_code"]) | st.text(
    max_size=8
)
anything = st.recursive(
    meaningful | st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=8,
).map(deepcopy)  # damage must not change values that are drawn again


def places(value: Any, here: Place = ()) -> list[Place]:
    """Return the path of every value in a JSON value, its own included."""
    inside: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inside = list(value.items())
    elif isinstance(value, list):
        inside = list(enumerate(value))
    return [here, *(place for step, part in inside for place in places(part, (*here, step)))]


def holder_of(body: Any, place: Place) -> Any:
    for step in place[:-1]:
        body = body[step]
    return body


@st.composite
def damaged_orders(draw: st.DrawFn) -> Any:
    body = deepcopy(ORDER)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(places(body)))
        damage = draw(st.sampled_from(["drop", "replace", "insert", "double"]))
        if not place:
            if damage == "replace":
                return draw(anything)
            continue
        holder, last = holder_of(body, place), place[-1]
        if damage == "drop":
            del holder[last]
        elif damage == "replace":
            holder[last] = draw(anything)
        elif isinstance(holder, dict):
            holder[draw(names)] = draw(anything)
        else:
            holder.insert(int(last), deepcopy(holder[last]) if damage == "double" else draw(anything))
    return body


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer(credit="100000.00")


@fuzzed(150)
@given(damaged_orders())
def test_a_damaged_order_is_created_or_rejected_without_a_trace(shop: Service, customer: Customer, body: Any) -> None:
    before = written(shop)
    content = json.dumps(body).encode()
    response = customer.http.post("/order", content=content, headers={"Content-Type": "application/json"})
    if response.status_code == 201:
        assert written(shop)[0] == before[0] + 1
        return
    assert response.status_code in {400, 402} | ({412} if needs_a_method(body) else set()), response.text
    assert response.json()["message"]
    assert written(shop) == before


def needs_a_method(body: Any) -> bool:
    return isinstance(body, dict) and body.get("auto_confirm") is True and body.get("shipping_method") is None
