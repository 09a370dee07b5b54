"""Bundles: sold, priced and stocked as one; their components are the related items (`docs/adr/0007`)."""

from typing import Any

import pytest

from support.orders import (
    buy,
    cancel,
    create,
    dispatch,
    faults_in_the_books,
    level,
    lines,
    outstanding,
    read,
    rows,
    sell,
)  # fmt: skip
from support.service import Customer, Service
from support.shop import product
from tradecounter.kit.errors import DomainError
from tradecounter.shipments.wire import Serial

KIT = [{"sku": "handset", "quantity": 2}, {"sku": "BASE", "quantity": 1}]


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    shop.must_load("products", [product("BASE", configurable=True)])
    sell(shop, "HANDSET", 20, available=50)
    sell(shop, "KIT", 70, available=10, components=KIT, weight_kg=3)
    return shop.customer()


def errors(shop: Service, *rows: dict[str, Any], **options: Any) -> list[tuple[int | None, str]]:
    return [(error.line, error.message) for error in shop.load("products", rows, **options).errors]


@pytest.mark.spec("2 Order", "related items are a bundle's components")
def test_components_are_related_items_without_a_charge(shop: Service, customer: Customer) -> None:
    created = create(customer, [("PHONE", 1), ("KIT", 3)])
    assert [(item["sku"], item["quantity"]) for item in created["items"]] == [("PHONE", 1), ("KIT", 3)]
    assert (created["cost_net"], created["shipping_weight"]) == (260.00, 10.0)
    handsets = level(shop, "HANDSET")
    kits = level(shop, "KIT")
    placed = buy(customer, [("PHONE", 1), ("KIT", 3)])
    assert level(shop, "HANDSET") == handsets
    assert level(shop, "KIT") == (kits[0] - 3, kits[1] + 3, 0)
    assert rows(shop, "select count(*) from stock_level l join product p on p.id = product_id where sku = 'BASE'") == [
        (0,)
    ]
    phone, kit = read(customer, placed)["items"]
    assert phone["related_items"] == []
    assert [(r["product"]["sku"], r["quantity"], r["cost_net"], r["cost_tax"]) for r in kit["related_items"]] == [
        ("HANDSET", 6, 0, 0),
        ("BASE", 3, 0, 0),
    ]
    assert kit["related_items"][0]["product"]["single_unit_cost"] == 20.00
    assert kit["related_items"][1]["product"]["single_unit_cost"] == 0  # without a price, it still shows
    assert len({item["id"] for item in (phone, kit, *kit["related_items"])}) == 4
    assert outstanding(shop, customer) == sum(
        gross for (gross,) in rows(shop, "select gross from orders where state = 'confirmed'")
    )
    assert faults_in_the_books(shop) == {}


def test_components_are_dispatched_with_their_bundle_and_have_serial_numbers(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [("KIT", 2)])
    [kit] = read(customer, placed)["items"]
    handset, base = (item["id"] for item in kit["related_items"])
    with pytest.raises(DomainError, match=f"is a component of KIT: dispatch item {kit['id']}"):
        dispatch(shop, placed, (handset, 1))
    with pytest.raises(DomainError, match="there are 3 serial numbers for 2 units"):
        dispatch(shop, placed, (kit["id"], 1), serials=[Serial(handset, str(n)) for n in range(3)])
    dispatch(shop, placed, (kit["id"], 1), serials=[Serial(handset, "H1"), Serial(handset, "H2"), Serial(base, "B1")])
    dispatch(shop, placed, serials=[Serial(base, "B2"), Serial(kit["id"], "K2")])
    found = read(customer, placed)
    assert found["status"] == "Dispatched"
    [kit] = found["items"]
    assert [n["serial_number"] for n in kit["serial_numbers"]] == ["K2"]
    assert [[n["serial_number"] for n in item["serial_numbers"]] for item in kit["related_items"]] == [
        ["H1", "H2"],
        ["B1", "B2"],
    ]
    assert faults_in_the_books(shop) == {}


def test_a_component_is_configured_by_its_own_item_id(customer: Customer) -> None:
    placed = buy(customer, [("KIT", 1)])
    [kit] = read(customer, placed)["items"]
    handset, base = (item["id"] for item in kit["related_items"])
    body = {"configurations": [{"adsl_username": "a", "adsl_password": "b"}]}
    path = f"/order/{placed['order_id']}/item"
    assert customer.post(f"{path}/{handset}/configuration", body).status_code == 400
    assert customer.post(f"{path}/{kit['id']}/configuration", body).status_code == 400
    response = customer.post(f"{path}/{base}/configuration", body)
    assert response.json()["configurations"][0]["data"]["product"] == "BASE"
    assert customer.post(f"{path}/{base}/configuration", body).status_code == 400
    assert read(customer, placed)["items"][0]["related_items"][1] == response.json()


def test_bundles_are_back_ordered_and_cancelled_like_any_product(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "RARE-KIT", 5, available=1, components=[{"sku": "BASE", "quantity": 1}])
    placed = buy(customer, [(sku, 3)])
    assert lines(shop, placed) == [(sku, 1, 2), ("BASE", 0, 0)]
    shop.must_load("stock", [{"sku": sku, "available": 2}])
    assert read(customer, placed)["status"] == "Awaiting dispatch"
    cancel(shop, placed)
    assert level(shop, sku) == (3, 0, 0)
    assert faults_in_the_books(shop) == {}


def test_an_order_keeps_its_original_components(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "CHANGING", 5, available=9, components=KIT)
    placed = buy(customer, [(sku, 1)])
    shop.must_load("products", [{"sku": sku, "components": []}, {"sku": "HANDSET", "active": False}])
    assert [
        len(read(customer, order)["items"][0]["related_items"]) for order in (placed, buy(customer, [(sku, 1)]))
    ] == [
        2,
        0,
    ]
    shop.must_load("products", [{"sku": "HANDSET", "active": True}])


@pytest.mark.parametrize(
    ("components", "problem"),
    [
        ([{"sku": "NO-SUCH", "quantity": 1}], 'components: product "NO-SUCH" does not exist'),
        ([{"sku": "new-kit", "quantity": 1}], "components: NEW-KIT cannot contain itself"),
        (
            [{"sku": "PHONE", "quantity": 1}, {"sku": "phone", "quantity": 1}],
            "components[1].sku: phone is listed twice",
        ),
        ([{"sku": "KIT", "quantity": 1}], 'components: "KIT" is a bundle, so it cannot be in the bundle "NEW-KIT"'),
    ],
)
@pytest.mark.usefixtures("customer")
def test_invalid_components_are_rejected(shop: Service, components: list[dict[str, Any]], problem: str) -> None:
    [(line, message)] = errors(shop, product("NEW-KIT", components=components))
    assert line == 1
    assert message.startswith(problem)


@pytest.mark.usefixtures("customer")
def test_a_bundle_in_a_bundle_is_rejected_whichever_is_imported(shop: Service) -> None:
    both = [
        product(sku, components=[{"sku": contained, "quantity": 1}])
        for sku, contained in (("IN", "PHONE"), ("OUT", "IN"))
    ]
    inside = '"IN" is a bundle, so it cannot be in the bundle "OUT"'
    assert errors(shop, *both) == [(2, f"components: {inside}")]
    [(line, message)] = errors(
        shop, product("OTHER"), {"sku": "HANDSET", "components": [{"sku": "PHONE", "quantity": 1}]}
    )
    assert line == 2
    assert message == 'components: "HANDSET" is a bundle, so it cannot be in the bundle "KIT"'
    # Once the outer product is no longer a bundle, the inner one may become one.
    shop.must_load("products", [product("OUT", components=[{"sku": "PHONE", "quantity": 1}])])
    shop.must_load("products", [{**both[0]}, {"sku": "OUT", "components": []}])
    assert shop.must_load("products", [both[0]]).unchanged == 1


@pytest.mark.parametrize("quantity", [0, -1, 10_001, "x", None, 1.5])
def test_quantities_of_components_are_bounded(shop: Service, quantity: Any) -> None:
    with pytest.raises(ValueError, match="components"):
        shop.load("products", [product("BAD", components=[{"sku": "PHONE", "quantity": quantity}])])
