"""`GET /product/{sku}`: how a path selects a product, and which products are hidden."""

from urllib.parse import unquote

import httpx2
import pytest

from support.error_bodies import error_body
from support.service import Customer, Service
from support.shop import price, product
from tradecounter.kit.text import shown_name

STRANGE = [
    "A/B",
    "A+B",
    "A-B",
    "A B",
    "AB",
    "A",
    "A/",
    "A//B",
    "/A",
    "A%2FB",
    "A%B",
    "A&B",
    "A?B",
    "A#B",
    "A=B",
    "A;B",
    "A,B",
    "A.B",
    "..",
    "A/../B",
    'A"B',
    "A'B",
    "A\\B",
    "A(B)",
    "A|B",
    "Äß",
    "STRASSE",
    "0123",
    "123",
    "null",
    "X.yaml",
    "日本",
]


@pytest.fixture(scope="module")
def customer(service: Service) -> Customer:
    service.must_load("manufacturers", [{"key": "acme", "name": "Acme"}])
    service.must_load("products", [product(sku, name=f"Named {sku!r}", description=f"Of {sku!r}") for sku in STRANGE])
    service.must_load("price-list", [price(sku, 1) for sku in STRANGE])
    return service.customer()


def encoded(text: str) -> str:
    """Percent-encode every byte, so that no client splits the path."""
    return "".join(f"%{byte:02x}" for byte in text.encode())


def by_sku(customer: Customer, path: str) -> httpx2.Response:
    """Send the path unchanged."""
    url = httpx2.URL(customer.http.base_url).copy_with(raw_path=f"/product/{path}".encode())
    return customer.http.send(customer.http.build_request("GET", url))


@pytest.mark.sweep(every=8)
@pytest.mark.spec("2 Product", "SKU lookup ignores case")
@pytest.mark.spec("4 GET /product/{sku}", "any case; JSON; with its descriptions")
@pytest.mark.parametrize("sku", STRANGE)
def test_any_percent_encoded_sku_returns_its_own_product(customer: Customer, sku: str) -> None:
    for spelling in (sku, sku.lower(), sku.upper()):
        response = by_sku(customer, encoded(spelling))
        assert response.status_code == 200, response.text
        found = response.json()
        assert (found["sku"], found["name"], found["description"]) == (sku, f"Named {sku!r}", f"Of {sku!r}")


@pytest.mark.parametrize("path", ["%20A%2FB", "a%2fb%20", "%20%20A/B%09%20", "%C2%A0A%2FB", "A%2FB%0A"])
def test_white_space_around_a_sku_is_ignored(customer: Customer, path: str) -> None:
    for _ in range(2):  # the second response is cached
        response = by_sku(customer, path)
        assert (response.status_code, response.json().get("sku")) == (200, "A/B")


@pytest.mark.parametrize(
    ("path", "sku"),
    [
        ("A/B", "A/B"),
        ("a/", "A/"),
        ("/A", "/A"),
        ("A//B", "A//B"),
        ("A+B", "A+B"),
        ("A%20B", "A B"),
        ("A%252FB", "A%2FB"),
        ("A&B", "A&B"),
        ("A=B;", None),
        ("A?B", "A"),
        ("%41%42", "AB"),
        ("AB%0A", "AB"),
        ("ab%0d", "AB"),
        ("AB%20", "AB"),
        ("A%00", None),
        ("A%FF", None),
        ("A/B/", None),
        ("%C3%84SS", "Äß"),
        ("stra%C3%9Fe", "STRASSE"),
        ("A%CC%88%C3%9F", "Äß"),
        ("00123", None),
    ],
)
def test_a_path_matches_at_most_one_sku(customer: Customer, path: str, sku: str | None) -> None:
    response = by_sku(customer, path)
    if sku is None:
        wanted = f"product {shown_name(unquote(path))} not found"
        assert (response.status_code, response.json()["code"]) == (404, "not_found")
        assert response.json()["message"].partition("; did you mean ")[0] == wanted
    else:
        assert (response.status_code, response.json().get("sku")) == (200, sku)


@pytest.mark.spec("2 Product", "extra fields are present only on request; descriptions always on one product")
@pytest.mark.spec("4 GET /product/{sku}", "any case; JSON; with its descriptions")
def test_a_product_by_sku_equals_its_list_entry_plus_descriptions(customer: Customer) -> None:
    listed = customer.get("/product?limit=0&extra=description,short_description,similar").json()
    assert sorted(found["sku"] for found in listed) == sorted(STRANGE)
    for found in listed:
        assert by_sku(customer, encoded(found["sku"]) + "?extra=similar").json() == found


@pytest.mark.spec("4 GET /product", "active products at the customer's own prices and stock")
@pytest.mark.spec("4 GET /product/{sku}", "unknown is 404")
@pytest.mark.spec("7 404", "unknown reference, SKU, address id or code")
def test_inactive_unpriced_and_unknown_products_get_the_same_response(service: Service, customer: Customer) -> None:
    service.must_load("products", [product("RETIRED", active=False), product("UNPRICED")])
    service.must_load("price-list", [price("RETIRED", 1)])
    service.must_load("products", [product("RETIRE1"), product("UNPRICE")])
    service.must_load("price-list", [price("RETIRE1", 1)])
    for sku, meant in (("RETIRED", "; did you mean RETIRE1?"), ("UNPRICED", ""), ("X", "")):
        response = customer.get(f"/product/{sku}")
        wanted = error_body("not_found", f"product {sku} not found{meant}")
        assert (response.status_code, response.json()) == (404, wanted)
    assert customer.get("/product?query=retired").json() == customer.get("/product?query=unpriced").json() == []


def test_a_reactivated_product_is_found_again(own_shop: Service) -> None:
    customer = own_shop.customer()
    own_shop.must_load("products", [product("SEASONAL", active=False)])
    own_shop.must_load("price-list", [price("SEASONAL", 1)])
    assert customer.get("/product/seasonal").status_code == 404
    own_shop.must_load("products", [{"sku": "seasonal", "active": True}])
    assert customer.get("/product/SEASONAL").json()["sku"] == "seasonal"


@pytest.mark.parametrize("path", ["/product", "/product/A", "/category", "/manufacturer", "/attribute"])
def test_requests_without_a_credential_get_no_data(service: Service, path: str) -> None:
    response = service.client().get(path)
    assert (response.status_code, response.content) == (401, b"{}")


@pytest.mark.parametrize("path", ["/product", "/product/A", "/category", "/manufacturer", "/attribute"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_the_catalogue_cannot_be_changed_over_http(customer: Customer, path: str, method: str) -> None:
    response = customer.http.request(method, path, json={})
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")
