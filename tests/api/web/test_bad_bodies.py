"""Invalid and hostile JSON bodies: rejected with 400, and nothing is written."""

import gzip
import json
from collections.abc import Callable, Iterator

import httpx2
import pytest

from support.error_bodies import error_body
from support.orders import create
from support.service import Customer, Service
from support.shop import ADDRESS, order
from support.written import written

DEEP = 100_000

ORDER = json.dumps(order()).encode()
CONFIRMATION = b'{"shipping_method": {"id": 11}}'
NEW_ADDRESS = json.dumps(ADDRESS).encode()

INVALID_JSON = {
    "a word": b"order",
    "half an object": b'{"customer_reference": "PO-',
    "a brace": b"{",
    "single quotes": b"{'customer_reference': 'PO-1'}",
    "unquoted names": b'{customer_reference: "PO-1"}',
    "a comment": b"{} // all of it",
    "a comma too many": b'{"a": 1,}',
    "two objects": b"{}{}",
    "something after it": ORDER + b" x",
    "a form": b"customer_reference=PO-1&items=1",
    "XML": b"<order/>",
    "a control character": b'{"a": "\x01"}',
    "an unknown escape": b'{"a": "\\q"}',
    "a broken escape": b'{"a": "\\u12"}',
    "NaN": b'{"a": NaN}',
    "Infinity": b'{"a": Infinity}',
    "minus Infinity": b'{"a": -Infinity}',
    "a number with a leading zero": b'{"a": 01}',
    "a number with a plus": b'{"a": +1}',
    "a number without an end": b'{"a": 1.}',
    "a lone high surrogate": b'{"a": "\\ud800"}',
    "a lone low surrogate": b'{"a": "\\udc00"}',
    "a high surrogate before a letter": b'{"a": "\\ud800A"}',
    "surrogates the wrong way round": b'{"a": "\\udc00\\ud800"}',
    "a surrogate as a name": b'{"\\ud800": 1}',
    "a byte order mark": b"\xef\xbb\xbf" + ORDER,
    "UTF-16": ORDER.decode().encode("utf-16"),
    "UTF-32": ORDER.decode().encode("utf-32-le"),
    "Latin-1": b'{"a": "caf\xe9"}',
    "UTF-8 cut short": b'{"a": "\xc3"}',
    "UTF-8 too long": b'{"a": "\xc0\xaf"}',
    "a surrogate in UTF-8": b'{"a": "\xed\xa0\x80"}',
    "beyond Unicode": b'{"a": "\xf4\x90\x80\x80"}',
    "bytes as a name": b'{"\xff": 1}',
    "NUL": b'{"a": "\x00"}',
    "NUL behind": b"{}\x00",
    "NUL escaped": b'{"a": "\\u0000"}',
    "NUL escaped in a name": b'{"a\\u0000": 1}',
    "NUL escaped behind a backslash": b'{"a": "\\\\\\u0000"}',
    "nothing but depth": b"[" * DEEP,
    "deep lists": b'{"a": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    "deep objects": b'{"a": ' * DEEP + b"1" + b"}" * DEEP,
    "deep and cut off": b'{"a": ' * DEEP,
}  # fmt: skip

NOT_AN_OBJECT = {
    "null": b"null", "true": b"true", "a number": b"5", "a text": b'"x"', "a list": b"[]",
    "a list of orders": b"[" + ORDER + b"]",
}  # fmt: skip

# Places in an order, a confirmation or an address where text is read, ignored or stored.
READ = {"order": b"PO-1", "address in an order": b"Leeds", "items": b"PHONE"}

BAD_TEXT = {
    "NUL": b"\x00",
    "NUL escaped": b"\\u0000",
    "bytes": b"\xff",
    "a surrogate": b"\\ud800",
    "a surrogate in UTF-8": b"\xed\xa0\x80",
    "a line break": b"\n",
}


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture(scope="module")
def code(customer: Customer) -> str:
    pending: str = create(customer)["confirmation_code"]
    return pending


Send = Callable[[str, bytes], httpx2.Response]


@pytest.fixture
def send(shop: Service, customer: Customer, code: str) -> Iterator[Send]:
    """Send a body to an endpoint; check at the end that nothing was written."""

    def request(endpoint: str, body: bytes) -> httpx2.Response:
        method, path = endpoint.replace("CODE", code).split()
        return customer.http.request(method, path, content=body, headers={"Content-Type": "application/json"})

    before = written(shop)
    yield request
    assert written(shop) == before


ENDPOINTS = ["POST /order", "PUT /order/CODE", "PUT /order/unknown", "POST /customer/address"]


def assert_rejected(response: httpx2.Response, *words: str) -> None:
    assert response.status_code == 400, response.text
    assert (list(response.json()), response.json()["code"]) == (["message", "code"], "invalid")
    message = response.json()["message"]
    assert len(message) < 300
    assert all(word in message for word in words), message


@pytest.mark.sweep(every=7)
@pytest.mark.spec("7 400", "invalid data on creation")
@pytest.mark.parametrize("body", INVALID_JSON.values(), ids=INVALID_JSON.keys())
def test_invalid_json_is_rejected_by_every_endpoint(send: Send, body: bytes) -> None:
    for endpoint in ENDPOINTS:
        assert_rejected(send(endpoint, body))


@pytest.mark.parametrize("body", NOT_AN_OBJECT.values(), ids=NOT_AN_OBJECT.keys())
def test_json_that_is_not_an_object_is_rejected_by_every_endpoint(send: Send, body: bytes) -> None:
    for endpoint in ENDPOINTS:
        assert_rejected(send(endpoint, body), "the body must be an object, not ")


@pytest.mark.parametrize("body", [b"", b" ", b"\r\n\t "])
def test_an_empty_body_is_rejected_where_one_is_required(send: Send, body: bytes) -> None:
    for endpoint in ("POST /order", "POST /customer/address"):
        assert_rejected(send(endpoint, body), "the request body is empty: send a JSON object")


@pytest.mark.parametrize("bad", BAD_TEXT.values(), ids=BAD_TEXT.keys())
@pytest.mark.parametrize("where", READ.values(), ids=READ.keys())
def test_invalid_text_is_rejected_anywhere_in_an_order(send: Send, where: bytes, bad: bytes) -> None:
    assert ORDER.count(where) >= 1
    assert_rejected(send("POST /order", ORDER.replace(where, where + bad)), "the body ")


@pytest.mark.parametrize("bad", BAD_TEXT.values(), ids=BAD_TEXT.keys())
def test_invalid_text_is_rejected_in_an_address_and_in_ignored_fields(send: Send, bad: bytes) -> None:
    assert_rejected(send("POST /customer/address", NEW_ADDRESS.replace(b"Leeds", bad)), "the body ")
    unread = b'{"remark": ["' + bad + b'"], '
    assert_rejected(send("POST /customer/address", unread + NEW_ADDRESS[1:]), "the body ")
    assert_rejected(send("POST /order", unread + ORDER[1:]), "the body ")
    assert_rejected(send("PUT /order/CODE", unread + CONFIRMATION[1:]), "the body ")


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_deep_nesting_is_rejected_or_ignored_and_never_a_fault(shop: Service, opening: bytes) -> None:
    """Near the decoder's depth limit, the result must not depend on the depth of the call stack."""
    poor = shop.customer(credit=None)
    closing = b"]" if opening == b"[" else b"}"
    statuses = set()
    for depth in [*range(100, 900, 100), *range(900, 1010)]:
        nested = opening * depth + b"1" + closing * depth
        body = ORDER.replace(b'"billing_address": {', b'"billing_address": {"remark": ' + nested + b", ")
        response = poor.http.post("/order", content=body, headers={"Content-Type": "application/json"})
        statuses.add(response.status_code)
        if response.status_code == 400:
            assert_rejected(response, "the body is nested too deeply")
    assert statuses == {400, 402}


NUMBERS = {
    "items[0].quantity": ORDER.replace(b'"quantity": 1', b'"quantity": NUMBER'),
    "shipping_region": b'{"shipping_region": NUMBER, ' + ORDER[1:],
    "shipping_method.id": b'{"shipping_method": {"id": NUMBER}, ' + ORDER[1:],
    "billing_address.id": ORDER.replace(b'"billing_address": {', b'"billing_address": {"id": NUMBER, '),
}


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("digits", [20, 400, 4300, 4301, 20_000])
@pytest.mark.parametrize(("place", "body"), NUMBERS.items(), ids=NUMBERS.keys())
def test_numbers_of_any_length_are_rejected_by_their_path(send: Send, place: str, body: bytes, digits: int) -> None:
    for sign in (b"", b"-"):
        for ending in (b"", b".5", b"e400", b"E-400"):
            response = send("POST /order", body.replace(b"NUMBER", sign + b"9" * digits + ending))
            assert response.status_code == 400
            assert response.json()["message"].startswith(f"{place}: ")


def test_the_last_of_two_members_with_one_name_is_used(customer: Customer) -> None:
    body = ORDER.replace(b'{"customer_reference": "PO-1"', b'{"customer_reference": "A", "customer_reference": "B"')
    created = customer.http.post("/order", content=body, headers={"Content-Type": "application/json"})
    assert (created.status_code, created.json()["customer_reference"]) == (201, "B")


def test_unknown_members_are_ignored_at_every_level(customer: Customer) -> None:
    anything = {"x": [None, True, 1e5, "é", {"y": []}], "": 0, "confirmation_code": 5, "order_id": "x", "cost_net": []}
    body = {**anything, **order()}
    body["items"] = [{**anything, **item, "id": "x"} for item in body["items"]]
    body["billing_address"] = {**anything, **ADDRESS}
    body["shipping_method"] = {**anything, "id": 11, "provider": 5, "cost_net": "free"}
    created = customer.post("/order", body)
    assert created.status_code == 201, created.text
    assert created.json()["billing_address"] == ADDRESS
    assert created.json()["items"][0]["cost_net"] == 50


def test_a_confirmation_ignores_every_field_but_the_shipping_method(customer: Customer) -> None:
    code = create(customer)["confirmation_code"]
    body = {
        "customer_reference": 5,
        "items": "none",
        "auto_confirm": "x",
        "shipping_method": {"id": 11, "cost_net": "0"},
    }
    confirmed = customer.put(f"/order/{code}", body)
    assert (confirmed.status_code, confirmed.json()["customer_reference"]) == (200, "PO-1")


VALID_TEXT = [
    "café ☕ \U0001f4e6", "line\nbreak\ttab", 'quo"te\\', "<b>&amp;</b>", "'; drop table orders; --",
    "\x7fa\x85\u2028b", "\ufeffa", "\uffffa", "\\u0000", "%00", "{}", "x" * 100,
]  # fmt: skip


@pytest.mark.parametrize("text", VALID_TEXT)
def test_any_valid_text_is_stored_unchanged(customer: Customer, text: str) -> None:
    body = order(customer_reference=text, external_customer_id=text)
    body["billing_address"] = {**ADDRESS, "street_one": text}
    created = customer.post("/order", {**body, "auto_confirm": True, "shipping_method": {"id": 11}}).json()
    assert (created["customer_reference"], created["external_customer_id"]) == (text, text)
    assert created["billing_address"]["street_one"] == text
    assert customer.get(f"/order/{created['order_id']}").json()["customer_reference"] == text


def test_five_hundred_items_of_the_largest_quantity_cause_no_fault(shop: Service) -> None:
    shop.must_load("products", [{"sku": "FEATHER", "name": "Feather", "manufacturer": "acme", "weight_kg": 0}])
    shop.must_load("price-list", [{"price_list": "default", "sku": "FEATHER", "single_unit_cost": 1_000_000}])
    body = order([("FEATHER", 100_000)] * 500, auto_confirm=True, shipping_method={"id": 11})
    rich = shop.customer(credit="999999999999.99")
    rejected = rich.post("/order", body)
    assert (rejected.status_code, rejected.json()["message"].split()[3]) == (402, "£60,000,000,000,006.00")
    assert shop.customer().post("/order", order([("FEATHER", 1)] * 500)).status_code == 402


@pytest.mark.parametrize("coding", ["gzip", "GZIP", "br", "zstd", "deflate", "identity, gzip", "x" * 200])
def test_an_encoded_body_is_rejected_and_nothing_is_written(customer: Customer, shop: Service, coding: str) -> None:
    before = written(shop)
    headers = {"Content-Type": "application/json", "Content-Encoding": coding}
    response = customer.http.post("/order", content=gzip.compress(ORDER), headers=headers)
    assert response.status_code == 415
    assert response.json() == error_body("unsupported_media", f"Content-Encoding: must be left out, not {coding[:100]}")
    assert written(shop) == before


@pytest.mark.parametrize("coding", ["", "identity", "Identity"])
def test_a_body_with_the_identity_encoding_is_read(customer: Customer, coding: str) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": coding}
    assert customer.http.post("/order", content=ORDER, headers=headers).status_code == 201
