"""Random paths and query strings on every GET: never a fault, and every error has a message."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fuzzed import fuzzed
from support.orders import buy
from support.service import Customer, Service

pytestmark = pytest.mark.sweep

PATHS = [
    "/product", "/product/{}", "/order", "/order/{}", "/customer", "/customer/credit", "/customer/address",
    "/category", "/manufacturer", "/attribute", "/", "/check-health", "/ready", "/{}", "/customer/address/{}",
]  # fmt: skip
NAMES = [
    "manufacturer", "category", "query", "attribute", "reduced", "clearance", "inStock", "sort", "extra", "accept",
    "page", "limit", "Page", "api-key",
]  # fmt: skip
VALUES = [
    "true", "false", "price", "sku", "name", "availability", "application/json", "text/csv", "text/html", "0", "1",
    "-1", "500", "501", "1e3", "1.0", "+1", " 1", "99999999999999999999", "description,related", ",,,", "x=", "=x",
    "x<y", "x>=1", "<=", "phone", "ph", "%2C", "%00", "%ff", "%ED%A0%80", "%zz", "%", "&", "=", "", "NaN",
]  # fmt: skip

raw = st.binary(max_size=12).map(quote) | st.text(max_size=12).map(lambda text: quote(text, errors="replace", safe=""))
parts = st.sampled_from(["PHONE", "100001", "ORD-100001", "..", ".", "%2F", "%00", "%0A", "0", "-1", "9" * 30]) | raw
values = st.sampled_from(VALUES) | raw
pairs = st.lists(st.tuples(st.sampled_from(NAMES) | raw, values), max_size=5)


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    shop.must_load(
        "attributes", [{"key": "x", "name": "X", "type": "int"}, {"key": "y", "name": "Y", "type": "string"}]
    )
    customer = shop.customer()
    buy(customer)
    return customer


@fuzzed(300)
@given(st.sampled_from(PATHS), parts, pairs, st.sampled_from(["GET", "HEAD"]), st.sampled_from(["text/csv", "*/*;q=x"]))
def test_no_path_or_query_causes_a_fault(
    customer: Customer, path: str, part: str, query: list[tuple[str, str]], method: str, accept: str
) -> None:
    target = path.format(part) + "?" + "&".join(f"{name}={value}" for name, value in query)
    response = customer.http.request(method, target, headers={"Accept": accept})
    assert response.status_code in {200, 400, 401, 404, 405}, (target, response.text)
    if method == "GET" and response.status_code >= 400:
        assert response.status_code == 401 or response.json()["message"], target
