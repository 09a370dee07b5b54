"""Filters and sorts of `GET /product` on a small catalogue."""

from typing import Any

import pytest

from support.service import Customer, Service
from support.shop import price, product

CATEGORIES: list[dict[str, Any]] = [
    {
        "key": "phones",
        "name": "Phones, desk & wall",
        "children": [
            {"key": "desk-phones", "name": "Desk phones", "children": None},
            {"key": "phone-bits", "name": "Accessories", "children": None},
        ],
    },
    {"key": "cables", "name": "Cables", "children": [{"key": "cable-bits", "name": "Accessories", "children": None}]},
    {"key": "empty", "name": "Nothing here", "children": None},
]
MANUFACTURERS = [
    {"key": "acme", "name": "Acme"},
    {"key": "muller", "name": "Müller & Söhne"},
    {"key": "a,b", "name": "A and B"},
]
ATTRIBUTES: list[dict[str, Any]] = [
    {"key": "ports", "name": "Ports, total", "type": "int", "possible_values": []},
    {"key": "height_u", "name": "Height (U)", "type": "int", "possible_values": []},
    {"key": "poe", "name": "Powered over Ethernet", "type": "boolean", "possible_values": []},
    {"key": "colour", "name": "Colour", "type": "string", "possible_values": [{"value": "Red, white"}]},
]
PRODUCTS = [
    product(
        "b-phone", name="Élan deskphone", ean="5012345678900", categories=["desk-phones"],
        attributes={"ports": "2", "poe": "true", "colour": "Jet black"},
        description="Comes with the handset of the C-PHONE.",
    ),
    product(
        "A-PHONE", name="zeta Deskphone", manufacturer="muller", categories=["phones"], clearance_product=True,
        attributes={"ports": "10", "poe": "false", "colour": "jet Black"}, short_description="fits 5012345678900",
    ),
    product(
        "C-PHONE", name="alpha", categories=["phone-bits"],
        attributes={"ports": "2.0", "height_u": "0.5", "colour": "Red, white"},
        description_html="<p>Fish&shy;ing&nbsp;line &amp; <b>hook</b><!-- sinker --></p><script>tackle()</script>",
    ),
    product("WS-C2960-24TC-L", name="Catalyst", categories=["cables"], manufacturer="a,b", clearance_product=True),
    product("WS-C2960+24TC-L", name="Catalyst", categories=["cable-bits"], manufacturer="a,b"),
    product("GONE", name="Deskphone of old", categories=["phones"], active=False),
    product("UNPRICED", name="Deskphone without a price", categories=["phones"]),
]  # fmt: skip

EVERYTHING = ["A-PHONE", "b-phone", "C-PHONE", "WS-C2960+24TC-L", "WS-C2960-24TC-L"]
SWITCHES = ["WS-C2960+24TC-L", "WS-C2960-24TC-L"]


@pytest.fixture(scope="module")
def customer(service: Service) -> Customer:
    service.must_load("categories", CATEGORIES)
    service.must_load("manufacturers", MANUFACTURERS)
    service.must_load("attributes", ATTRIBUTES)
    service.must_load("products", PRODUCTS)
    prices = {"A-PHONE": 30, "b-phone": "9.99", "C-PHONE": 30, "WS-C2960-24TC-L": 100, "WS-C2960+24TC-L": 30, "GONE": 1}
    service.must_load("price-list", [price(sku, cost) for sku, cost in prices.items()])
    stock = {"A-PHONE": 7, "b-phone": 0, "C-PHONE": 7, "WS-C2960-24TC-L": 40, "GONE": 9}
    service.must_load("stock", [{"sku": sku, "available": units} for sku, units in stock.items()])
    return service.customer()


def skus(customer: Customer, query: str) -> list[str]:
    response = customer.get(f"/product?{query}")
    assert response.status_code == 200, response.text
    return [found["sku"] for found in response.json()]


@pytest.mark.sweep(every=4)
@pytest.mark.spec("4 GET /product", "manufacturer: comma-separated keys")
@pytest.mark.spec("4 GET /manufacturer", "by name; keys filter")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", EVERYTHING),
        ("manufacturer=acme", ["b-phone", "C-PHONE"]),
        ("manufacturer=ACME,muller", ["A-PHONE", "b-phone", "C-PHONE"]),
        ("manufacturer=acme,nobody", ["b-phone", "C-PHONE"]),
        ("manufacturer=nobody", []),
        ("manufacturer=a,b", []),
        ("manufacturer=a%2Cb", SWITCHES),
        ("manufacturer=a%2CB,muller", ["A-PHONE", *SWITCHES]),
        ("manufacturer=muller%2Cacme", ["A-PHONE", "b-phone", "C-PHONE"]),
        ("manufacturer=%20acme%20,", ["b-phone", "C-PHONE"]),
        ("manufacturer=muller&manufacturer=acme", ["A-PHONE", "b-phone", "C-PHONE"]),
        ("manufacturer=Acme&category=desk-phones", ["b-phone"]),
        ("manufacturer=muller&category=desk-phones", []),
    ],
)
def test_a_manufacturer_filter_finds_its_products(customer: Customer, query: str, found: list[str]) -> None:
    assert skus(customer, query) == found


@pytest.mark.spec("4 GET /product", "category: comma-separated names")
@pytest.mark.spec("4 GET /category", "a tree of two levels, whose names filter")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("category=phones", ["A-PHONE", "b-phone", "C-PHONE"]),
        ("category=Phones%2C%20desk%20%26%20wall", ["A-PHONE", "b-phone", "C-PHONE"]),
        ("category=phones%2C+DESK+%26+wall", ["A-PHONE", "b-phone", "C-PHONE"]),
        ("category=Phones,%20desk%20%26%20wall", ["A-PHONE", "b-phone", "C-PHONE"]),  # `Phones` is also a key
        ("category=desk%20phones", ["b-phone"]),
        ("category=DESK-PHONES", ["b-phone"]),
        ("category=accessories", ["C-PHONE", "WS-C2960+24TC-L"]),
        ("category=cables", SWITCHES),
        ("category=cables,desk-phones", ["b-phone", *SWITCHES]),
        ("category=cables&category=desk-phones", ["b-phone", *SWITCHES]),
        ("category=Cables%2C+desk+phones", ["b-phone", *SWITCHES]),
        ("category=cables%2Cunheard-of", SWITCHES),
        ("category=empty", []),
        ("category=unheard-of", []),
        ("category=unheard-of,cable-bits", ["WS-C2960+24TC-L"]),
    ],
)
def test_a_category_filter_finds_by_name_or_key_and_includes_children(
    customer: Customer, query: str, found: list[str]
) -> None:
    assert skus(customer, query) == found


@pytest.mark.spec("4 GET /product", "attribute: names, operators by type, values")
@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ("ports=2", ["b-phone", "C-PHONE"]),
        ("ports=2.00", ["b-phone", "C-PHONE"]),
        ("ports=%2B2", ["b-phone", "C-PHONE"]),
        ("ports=3", []),
        ("ports<10", ["b-phone", "C-PHONE"]),
        ("ports<=10", ["A-PHONE", "b-phone", "C-PHONE"]),
        ("ports>2", ["A-PHONE"]),
        ("ports>=2", ["A-PHONE", "b-phone", "C-PHONE"]),
        ("ports>2,ports<10", []),
        ("ports>=2,ports<10", ["b-phone", "C-PHONE"]),
        ("ports=2,ports=10", ["A-PHONE", "b-phone", "C-PHONE"]),
        ("ports=2,ports=10,ports>5", ["A-PHONE"]),
        ("ports=2&attribute=ports=10", ["A-PHONE", "b-phone", "C-PHONE"]),
        ("ports>1.5,poe=true", ["b-phone"]),
        ("height_u<1", ["C-PHONE"]),
        ("height_u<=0.5", ["C-PHONE"]),
        ("height_u<0.5", []),
        ("height_u>-1", ["C-PHONE"]),
        ("PORTS=10", ["A-PHONE"]),
        ("Ports%2C%20total>=10", ["A-PHONE"]),
        ("ports%2C%20TOTAL=10,ports=2", ["A-PHONE", "b-phone", "C-PHONE"]),
        ("Height%20(U)=.5", ["C-PHONE"]),
        ("poe=TRUE", ["b-phone"]),
        ("poe=false", ["A-PHONE"]),
        ("poe=true,poe=false", ["A-PHONE", "b-phone"]),
        ("poe=perhaps", []),
        ("colour=jet%20black", ["A-PHONE", "b-phone"]),
        ("colour=JET+BLACK,poe=true", ["b-phone"]),
        ("colour=red%2C%20white", ["C-PHONE"]),
        ("colour=jet%20black,colour=red%2C%20white", ["A-PHONE", "b-phone", "C-PHONE"]),
        ("ports>=2%2Cpoe=true", ["b-phone"]),
        ("ports=10%2C+ports=2", ["A-PHONE", "b-phone", "C-PHONE"]),
        ("colour=pink", []),
        ("ports%3E%3D10", ["A-PHONE"]),
        ("%20ports%20>=%2010%20", ["A-PHONE"]),
    ],
)
def test_an_attribute_filter_compares_values(customer: Customer, filters: str, found: list[str]) -> None:
    assert skus(customer, f"attribute={filters}") == found


@pytest.mark.spec("4 GET /product", "query: keywords over the details")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("WS-C2960", SWITCHES),
        ("ws%20c2960", SWITCHES),
        ("c2960", SWITCHES),
        ("wsc2960", SWITCHES),
        ("wsc296024tcl", SWITCHES),
        ("24tc+ws", SWITCHES),
        ("2960", []),
        ("elan", ["b-phone"]),
        ("%C3%89LAN", ["b-phone"]),
        ("E%CC%81lan", ["b-phone"]),
        ("deskph", ["A-PHONE", "b-phone"]),
        ("deskphone%20zet", ["A-PHONE"]),
        ("phone", ["A-PHONE", "b-phone", "C-PHONE"]),
        ("hon", []),
        ("hone", ["A-PHONE", "b-phone", "C-PHONE"]),
        ("phones", ["A-PHONE", "b-phone", "C-PHONE"]),
        ("desk%20phone", ["A-PHONE", "b-phone", "C-PHONE"]),
        ("muller", ["A-PHONE"]),
        ("M%C3%BCLLER%20s%C3%B6", ["A-PHONE"]),
        ("handset", ["b-phone"]),
        ("hook", ["C-PHONE"]),
        ("line", ["C-PHONE"]),
        ("tackle", []),
        ("sinker", []),
        ("nbsp", []),
        ("script", []),
        ("50123", ["A-PHONE", "b-phone"]),
        ("--", []),
        ("%C2%A3", []),
        ("%20", EVERYTHING),
        ("nothing%20at%20all", []),
    ],
)
def test_a_query_finds_products_by_their_words(customer: Customer, query: str, found: list[str]) -> None:
    assert skus(customer, f"query={query}&sort=sku") == found


@pytest.mark.spec("4 GET /product", "query: keywords over the details")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("query=c-phone", ["C-PHONE", "b-phone"]),
        ("query=%20C-Phone%20", ["C-PHONE", "b-phone"]),
        ("query=c-phone&sort=sku", ["b-phone", "C-PHONE"]),
        ("query=5012345678900", ["b-phone", "A-PHONE"]),
        ("query=5012345678900&sort=sku", ["A-PHONE", "b-phone"]),
        ("query=ws-c2960-24tc-l", ["WS-C2960-24TC-L", "WS-C2960+24TC-L"]),
        ("query=ws-c2960%2B24tc-l", ["WS-C2960+24TC-L", "WS-C2960-24TC-L"]),
        ("query=c-phone&manufacturer=muller", []),
    ],
)
def test_an_exact_sku_or_ean_comes_first_without_a_sort(customer: Customer, query: str, found: list[str]) -> None:
    assert skus(customer, query) == found


@pytest.mark.parametrize(
    ("query", "corrected"),
    [
        ("query=phone", None),
        ("query=pohne", "pohne=phone"),
        ("query=POHNE%20deskphnoe", "pohne=phone, deskphnoe=deskphone"),
        ("query=%C3%A9laan", "elaan=elan"),
        ("query=nothing", None),
    ],
)
def test_words_that_were_read_as_others_are_named(customer: Customer, query: str, corrected: str | None) -> None:
    for media in ("application/json", "text/csv") * 2:  # the later ones are cached
        response = customer.get(f"/product?{query}", headers={"Accept": media})
        assert response.headers.get("X-Corrected") == corrected


@pytest.mark.spec("4 GET /product", "reduced or clearance; inStock")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("reduced=true", ["A-PHONE", "WS-C2960-24TC-L"]),
        ("clearance=true", ["A-PHONE", "WS-C2960-24TC-L"]),
        ("reduced=false", ["b-phone", "C-PHONE", "WS-C2960+24TC-L"]),
        ("clearance=false&reduced=false", ["b-phone", "C-PHONE", "WS-C2960+24TC-L"]),
        ("inStock=true", ["A-PHONE", "C-PHONE", "WS-C2960-24TC-L"]),
        ("inStock=false", EVERYTHING),
        ("inStock=true&reduced=false", ["C-PHONE"]),
        ("inStock=true&reduced=true&attribute=ports>2&query=zeta&category=phones&manufacturer=muller", ["A-PHONE"]),
    ],
)
def test_flags_filter_and_all_parameters_apply_together(customer: Customer, query: str, found: list[str]) -> None:
    assert skus(customer, query) == found


@pytest.mark.spec("4 GET /product", "sort: one of four values; any other is 400")
@pytest.mark.parametrize(
    ("sort", "found"),
    [
        ("sku", EVERYTHING),
        ("name", ["C-PHONE", "WS-C2960+24TC-L", "WS-C2960-24TC-L", "A-PHONE", "b-phone"]),
        ("price", ["b-phone", "A-PHONE", "C-PHONE", "WS-C2960+24TC-L", "WS-C2960-24TC-L"]),
        ("availability", ["WS-C2960-24TC-L", "A-PHONE", "C-PHONE", "b-phone", "WS-C2960+24TC-L"]),
    ],
)
def test_a_sort_ignores_case_and_breaks_ties_by_sku(customer: Customer, sort: str, found: list[str]) -> None:
    assert skus(customer, f"sort={sort}") == found


def test_malformed_markup_is_searchable(service: Service, customer: Customer) -> None:
    row = product("ODD", description_html="<![odd[x]]><![\\ <p>readable", categories=[])
    service.must_load("products", [row])
    service.must_load("price-list", [price("ODD", 1)])
    assert skus(customer, "query=readable") == ["ODD"]
    service.must_load("products", [{"sku": "ODD", "active": False}])
    assert skus(customer, "query=readable") == []


def test_imported_synonyms_are_found_a_moment_later(service: Service, customer: Customer) -> None:
    assert skus(customer, "query=bigwig") == []
    service.must_load("synonyms", [{"words": "bigwig, zeta deskphone"}])
    assert skus(customer, "query=bigwig") == skus(customer, "query=zeta%20deskphone") == ["A-PHONE"]
    errors = service.load("synonyms", [{"words": "alone, Alone-"}, {"words": " , "}]).errors
    assert [error.line for error in errors] == [1, 2]
