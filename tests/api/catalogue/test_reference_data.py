"""`GET /category`, `GET /manufacturer` and `GET /attribute`."""

from typing import Any

import pytest

from support.service import Customer, Service
from support.shop import price, product


@pytest.fixture
def service(own_service: Service) -> Service:
    return own_service


@pytest.fixture
def customer(service: Service) -> Customer:
    return service.customer()


def test_an_empty_catalogue_has_empty_lists(service: Service) -> None:
    with_key = service.customer()
    for path in ("/category", "/manufacturer", "/attribute", "/product"):
        response = with_key.get(path)
        assert (response.status_code, response.content) == (200, b"[]")


@pytest.mark.spec("2 Reference data", "categories nest; a leaf's children are null")
@pytest.mark.spec("4 GET /category", "a tree of two levels, whose names filter")
@pytest.mark.spec("8 Category depth", "two levels")
def test_categories_are_a_tree_whose_leaves_have_null_for_children(service: Service, customer: Customer) -> None:
    tree: list[dict[str, Any]] = [
        {"key": "a", "name": "Ays", "children": [{"key": key, "name": key, "children": None} for key in ("z", "b")]},
        {"key": "c", "name": "Sees", "children": None},
    ]
    service.must_load("categories", [tree[0], {"key": "c", "name": "Sees", "children": []}])
    assert customer.get("/category", headers={"Accept": "text/csv"}).json() == tree

    service.must_load("categories", [{"key": "c", "name": "C", "children": None}], replace=True)
    assert customer.get("/category").json() == [{"key": "c", "name": "C", "children": None}]


@pytest.mark.spec("2 Reference data", "manufacturers have key and name")
@pytest.mark.spec("4 GET /manufacturer", "by name; keys filter")
def test_manufacturers_are_ordered_by_name_without_case(service: Service, customer: Customer) -> None:
    named = {"1": "zeta", "2": "Alpha", "3": "beta", "4": "Émile", "5": "alpha"}
    service.must_load("manufacturers", [{"key": key, "name": name} for key, name in named.items()])
    listed = customer.get("/manufacturer").json()
    assert [m["key"] for m in listed] == ["2", "5", "3", "1", "4"]
    assert {m["key"]: m["name"] for m in listed} == named

    service.must_load("manufacturers", [{"key": "3", "name": "Beta"}], replace=True)
    assert customer.get("/manufacturer").json() == [{"key": "3", "name": "Beta"}]


@pytest.mark.spec("2 Reference data", "attributes have a type and values")
@pytest.mark.spec("4 GET /attribute", "the attributes that can be filtered by")
def test_attributes_have_their_type_and_values(service: Service, customer: Customer) -> None:
    rows: list[dict[str, Any]] = [
        {"key": "u", "name": "Height", "type": "int", "possible_values": [{"value": "1"}, {"value": "0.5"}]},
        {"key": "poe", "name": "PoE", "type": "boolean", "possible_values": [{"value": "true"}]},
        {"key": "tint", "name": "tint", "type": "string", "possible_values": []},
    ]
    service.must_load("attributes", rows)
    assert customer.get("/attribute?page=0&limit=x").json() == rows

    service.must_load("attributes", [{"key": "poe", "name": "Power", "type": "boolean"}], replace=True)
    assert customer.get("/attribute").json() == [{**rows[1], "name": "Power"}]


@pytest.mark.spec("4 GET /attribute", "the attributes that can be filtered by")
def test_a_filter_by_a_removed_attribute_is_rejected(service: Service, customer: Customer) -> None:
    service.must_load("attributes", [{"key": "old", "name": "Old", "type": "int"}])
    assert customer.get("/product?attribute=old=1").status_code == 200
    service.must_load("attributes", [{"key": "new", "name": "New", "type": "int"}], replace=True)
    response = customer.get("/product?attribute=old=1")
    assert response.json()["message"] == "attribute: 'old' is not an attribute; GET /attribute lists them"


def test_products_are_found_by_a_manufacturers_key_in_any_case(service: Service, customer: Customer) -> None:
    service.must_load("manufacturers", [{"key": "twin", "name": "Twin"}])
    service.must_load("products", [product("ONE", manufacturer="twin"), product("TWO", manufacturer="TWIN")])
    service.must_load("price-list", [price("ONE", 1), price("TWO", 1)])
    for key in ("twin", "TWIN", "Twin"):
        found = customer.get("/product", params={"manufacturer": key}).json()
        assert [p["sku"] for p in found] == ["ONE", "TWO"]
