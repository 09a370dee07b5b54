"""JSON that decoders disagree about is rejected with 400 by both sites and in files, and changes nothing."""

from collections.abc import Iterator

import httpx2
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.orders import buy
from support.service import Customer, Service
from support.written import written

JSON = {"Content-Type": "application/json"}

DEEP = 100_000
ODD = {
    "4,301 digits": b"9" * 4_301,
    "a negative number of 5,000 digits": b"-" + b"9" * 5_000,
    "100,000 digits": b"9" * 100_000,
    "deep lists": b"[" * DEEP + b"]" * DEEP,
    "deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "an exponent of 22 digits": b"1e9999999999999999999999",
    "a negative exponent of 22 digits": b"1e-9999999999999999999999",
    "NaN": b"NaN",
    "minus Infinity": b"-Infinity",
    "a lone surrogate": b'"\\ud800"',
    "NUL": b'"\\u0000"',
    "a number with an underscore": b"1_0",
    "a hexadecimal number": b"0x10",
    "full-width digits": "\uff11".encode(),
}
HARMLESS = {
    "an exponent of six digits": b"1e999999",
    "a fraction of 5,000 digits": b"0." + b"1" * 5_000,
    "4,300 digits": b"9" * 4_300,
    "a repeated key": b'{"a": 1, "a": 2}',
}


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop) as running:
        yield running


@pytest.fixture(scope="module")
def staff(office: BackOfficeSite) -> httpx2.Client:
    return office.caller()


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


def note(staff: httpx2.Client, reference: str, odd: bytes, **headers: str) -> httpx2.Response:
    body = b'{"text": "a", "x": ' + odd + b"}"
    return staff.post(f"/api/order/{reference}/note", content=body, headers={**JSON, **headers})


@pytest.fixture(scope="module")
def reference(customer: Customer) -> str:
    return str(buy(customer)["order_reference"])


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
def test_odd_json_is_rejected_by_the_back_office(
    shop: Service, staff: httpx2.Client, reference: str, odd: bytes
) -> None:
    before = written(shop)
    for headers in ({}, {"Idempotency-Key": "odd"}):
        response = note(staff, reference, odd, **headers)
        assert response.status_code == 400, response.text
        assert response.json()["message"].startswith("the body ")
    assert written(shop) == before


@pytest.mark.parametrize("odd", HARMLESS.values(), ids=HARMLESS.keys())
def test_unusual_json_in_an_unknown_field_does_no_harm(staff: httpx2.Client, reference: str, odd: bytes) -> None:
    response = note(staff, reference, odd, **{"Idempotency-Key": f"harmless {hash(odd)}"})
    assert (response.status_code, response.headers["X-Ignored"]) == (200, "x")


@pytest.mark.sweep(every=10)
@pytest.mark.parametrize("odd", {**ODD, **HARMLESS}.values(), ids={**ODD, **HARMLESS}.keys())
@pytest.mark.parametrize(
    ("method", "path", "field"),
    [
        ("POST", "/api/payment", "amount"),
        ("POST", "/api/payment", "customer_id"),
        ("PATCH", "/api/customer/{id}", "discount"),
        ("PATCH", "/api/customer/{id}", "credit_limit"),
        ("PATCH", "/api/customer/{id}", "term_days"),
        ("POST", "/api/stock/adjustment", "change"),
        ("POST", "/api/order", "items"),
    ],
)
def test_odd_numbers_are_rejected_where_a_number_is_wanted(
    shop: Service, staff: httpx2.Client, customer: Customer, method: str, path: str, field: str, odd: bytes
) -> None:
    before = written(shop)
    address = path.replace("{id}", str(customer.id))
    response = staff.request(method, address, content=b'{"%s": %s}' % (field.encode(), odd), headers=JSON)
    assert response.status_code == 400, response.text
    assert written(shop) == before


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
def test_odd_json_with_an_idempotency_key_is_rejected_by_the_customers_api(customer: Customer, odd: bytes) -> None:
    headers = {**JSON, "Idempotency-Key": "odd"}
    assert customer.http.post("/order", content=b'{"x": ' + odd + b"}", headers=headers).status_code == 400


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
def test_odd_json_in_import_files_is_an_error_of_its_line(staff: httpx2.Client, odd: bytes) -> None:
    content = b'{"price_list": "default", "sku": "PHONE", "single_unit_cost": ' + odd + b"}"
    headers = {"Content-Type": "application/jsonl"}
    response = staff.post("/api/import/price-list", content=content, headers=headers)
    assert response.status_code in {400, 422}, response.text


@pytest.mark.parametrize("odd", [odd for odd in ODD.values() if len(odd) < 20_000])
def test_odd_json_in_a_cell_is_an_error_of_the_cell(staff: httpx2.Client, odd: bytes) -> None:
    cell = b"[" + odd.replace(b'"', b'""') + b"]"
    content = b'sku,images\nPHONE,"' + cell + b'"\n'
    response = staff.post("/api/import/products", content=content, headers={"Content-Type": "text/csv"})
    assert response.status_code == 422, response.text
    assert response.json()["errors"][0]["message"].startswith("images")


# Query parameters.


@pytest.mark.parametrize("text", ["1_0", "+1", " 1", "\uff11", "\u0661", "1.0", "1e1", "0x1", "1,0", "--1", "1 0"])
@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/api/order", ("limit", "after", "customer_id")),
        ("/api/payment", ("limit", "invoice")),
        ("/api/product", ("limit",)),
    ],
)
def test_numbers_in_queries_of_the_back_office_have_digits_only(
    staff: httpx2.Client, path: str, names: tuple[str, ...], text: str
) -> None:
    for name in names:
        response = staff.get(path, params={name: text})
        assert response.status_code == 400, response.text
        assert response.json()["message"] == f"{name}: must be a whole number, not {text!r}"


@pytest.mark.parametrize("text", ["1_0", "+1", " 1", "\uff11", "\u0661", "1.0", "1e1", "0x1", "1,0", "--1", "1 0"])
def test_numbers_in_queries_of_the_customers_api_have_digits_only(customer: Customer, text: str) -> None:
    for path, name in (("/product", "page"), ("/order", "page"), ("/event", "limit")):
        response = customer.get(path, params={name: text})
        assert response.status_code == 400, response.text
        assert response.json()["message"] == f"{name}: must be a whole number, not {text!r}"
