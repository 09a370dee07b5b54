"""Every error has the one body, and the interface document announces it (specification, section 7)."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from support.billing import credit, invoiced, number_of, pay_in
from support.events import number_events
from support.interface import interface_document, problems_by
from support.orders import buy, confirm, confirm_while_blocked, create
from support.quotes import price_as_support, request_quote
from support.service import Customer, Service
from support.shop import ADDRESS, order

# What a message must never hold: traces, statements, names of tables, paths of the machine.
LEAKS = re.compile(
    r"traceback|select |insert |psycopg|msgspec|\.py\b|/home/|/usr/|order_line|<class|0x[0-9a-f]{6}", re.IGNORECASE
)


@dataclass
class Shoppers:
    service: Service
    usual: Customer
    poor: Customer
    strict: Customer
    expired_code: str

    @property
    def nobody(self) -> httpx2.Client:
        return self.service.client()


@pytest.fixture(scope="module")
def shoppers(shop: Service) -> Shoppers:
    usual = shop.customer()
    expired = create(usual)["confirmation_code"]
    shop.clock.advance(timedelta(hours=24, seconds=1))
    strict = shop.customer(unique_references=True)
    buy(strict)
    return Shoppers(shop, usual, shop.customer(credit="1.00"), strict, expired)


Send = Callable[[Shoppers], httpx2.Response]


def send(customer: Customer, operation: str, content: bytes, content_type: str = "application/json") -> httpx2.Response:
    method, path = operation.split()
    return customer.http.request(method, path, content=content, headers={"Content-Type": content_type})


def confirm_expired(shoppers: Shoppers) -> httpx2.Response:
    return confirm(shoppers.usual, {"confirmation_code": shoppers.expired_code})


def confirm_beyond_the_limit(shoppers: Shoppers) -> httpx2.Response:
    customer = shoppers.service.customer(credit="100.00")
    first, second = create(customer), create(customer)
    assert confirm(customer, first).status_code == 200
    return confirm(customer, second)


CONFIGURATION = "/order/{reference}/item/{orderItemId}/configuration"
ONE_CONFIGURATION = {"configurations": [{"adsl_username": "a", "adsl_password": "b"}]}


def invoice_too_early(shoppers: Shoppers) -> httpx2.Response:
    placed = buy(shoppers.usual)
    return shoppers.usual.get(f"/order/{placed['order_id']}/invoice")


LONG_QUERY = f"x={'y' * 15_000}"


def many_events(shoppers: Shoppers) -> httpx2.Response:
    for _ in range(2):
        buy(shoppers.usual)
    number_events(shoppers.service)
    return shoppers.usual.get(f"/event?limit=1&{LONG_QUERY}")


def many_orders(shoppers: Shoppers) -> httpx2.Response:
    buy(shoppers.usual)
    return shoppers.usual.get(f"/order?{LONG_QUERY}")


def documents(shoppers: Shoppers, path: str) -> httpx2.Response:
    number = number_of(shoppers.service, invoiced(shoppers.service, shoppers.usual))
    pay_in(shoppers.service, shoppers.usual, "1.00", number)
    credit(shoppers.service, number, amount="1.00")
    return shoppers.usual.get(f"{path}?{LONG_QUERY}")


def many_logged_requests(shoppers: Shoppers) -> httpx2.Response:
    for path in ("/category", "/manufacturer"):
        shoppers.usual.get(path)
    shoppers.service.refresh()
    return shoppers.usual.get(f"/request-log?limit=1&{LONG_QUERY}")


DECLINE = "/quote/{confirmation_code}/decline"
ASKED = {"kind": "message", "text": "Where is it?"}


def many_quotes(shoppers: Shoppers) -> httpx2.Response:
    request_quote(shoppers.usual)
    return shoppers.usual.get(f"/quote?{LONG_QUERY}")


def decline_an_order(shoppers: Shoppers) -> httpx2.Response:
    quote = request_quote(shoppers.usual)
    price_as_support(shoppers.service, quote, ("PHONE", "40"))
    assert confirm(shoppers.usual, quote).status_code == 200
    return shoppers.usual.post(f"/quote/{quote['confirmation_code']}/decline", {})


def ask(customer: Customer, reference: str) -> httpx2.Response:
    return customer.post("/request", {**ASKED, "order_reference": reference})


def many_requests(shoppers: Shoppers) -> httpx2.Response:
    assert ask(shoppers.usual, buy(shoppers.usual)["order_reference"]).status_code == 201
    return shoppers.usual.get(f"/request?{LONG_QUERY}")


def ask_too_much(shoppers: Shoppers) -> httpx2.Response:
    customer = shoppers.service.customer()
    reference = buy(customer)["order_reference"]
    for _ in range(50):
        assert ask(customer, reference).status_code == 201
    return ask(customer, reference)


TOO_LONG = b" " * (1024 * 1024 + 1)

ERRORS: list[tuple[int, str, str, Send]] = [
    (400, "GET", "/product", lambda s: s.usual.get("/product?sort=weight")),
    (400, "GET", "/product/{sku}", lambda s: s.usual.get("/product/PHONE?extra=nonsense")),
    (400, "GET", "/order", lambda s: s.usual.get("/order?page=0")),
    (400, "GET", "/invoice", lambda s: s.usual.get("/invoice?page=0")),
    (404, "GET", "/invoice/{number}", lambda s: s.usual.get("/invoice/999999999")),
    (414, "GET", "/invoice", lambda s: documents(s, "/invoice")),
    (400, "GET", "/credit-note", lambda s: s.usual.get("/credit-note?issued_from=soon")),
    (404, "GET", "/credit-note/{number}", lambda s: s.usual.get("/credit-note/999999999")),
    (414, "GET", "/credit-note", lambda s: documents(s, "/credit-note")),
    (400, "GET", "/statement", lambda s: s.usual.get("/statement?from=soon")),
    (400, "GET", "/payment", lambda s: s.usual.get("/payment?limit=501")),
    (414, "GET", "/payment", lambda s: documents(s, "/payment")),
    (400, "GET", "/catalogue/change", lambda s: s.usual.get("/catalogue/change?after=nonsense")),
    (410, "GET", "/catalogue/change", lambda s: s.usual.get(f"/catalogue/change?after={'A' * 60}")),
    (400, "GET", "/request-log", lambda s: s.usual.get("/request-log?errors=maybe")),
    (414, "GET", "/request-log", many_logged_requests),
    (400, "GET", "/event", lambda s: s.usual.get("/event?limit=0")),
    (400, "POST", "/order", lambda s: s.usual.post("/order", {})),
    (400, "POST", "/order", lambda s: send(s.usual, "POST /order", b"{")),
    (400, "PUT", "/order/{reference}", lambda s: s.usual.put("/order/x", [])),
    (400, "POST", "/customer/address", lambda s: s.usual.post("/customer/address", {**ADDRESS, "zip": ""})),
    (400, "POST", CONFIGURATION, lambda s: s.usual.post("/order/x/item/1/configuration", {})),
    (404, "POST", CONFIGURATION, lambda s: s.usual.post("/order/x/item/1/configuration", ONE_CONFIGURATION)),
    (413, "POST", CONFIGURATION, lambda s: send(s.usual, "POST /order/x/item/1/configuration", TOO_LONG)),
    (415, "POST", CONFIGURATION, lambda s: send(s.usual, "POST /order/x/item/1/configuration", b"x", "text/csv")),
    (404, "GET", "/order/{reference}/video", lambda s: s.usual.get("/order/NOTHING/video")),
    (402, "POST", "/order", lambda s: s.poor.post("/order", order())),
    (404, "GET", "/product/{sku}", lambda s: s.usual.get("/product/NOTHING")),
    (404, "GET", "/order/{reference}", lambda s: s.usual.get("/order/NOTHING")),
    (404, "GET", "/order/{reference}/invoice", lambda s: s.usual.get("/order/NOTHING/invoice")),
    (404, "PUT", "/order/{reference}", lambda s: s.usual.put("/order/NOTHING", {})),
    (400, "PUT", "/customer/address/{id}", lambda s: s.usual.put("/customer/address/1", {**ADDRESS, "zip": ""})),
    (404, "PUT", "/customer/address/{id}", lambda s: s.usual.put("/customer/address/1", ADDRESS)),
    (413, "PUT", "/customer/address/{id}", lambda s: send(s.usual, "PUT /customer/address/1", TOO_LONG)),
    (415, "PUT", "/customer/address/{id}", lambda s: send(s.usual, "PUT /customer/address/1", b"{}", "text/plain")),
    (400, "GET", "/quote", lambda s: s.usual.get("/quote?page=0")),
    (414, "GET", "/quote", many_quotes),
    (400, "POST", DECLINE, lambda s: s.usual.post("/quote/x/decline", {"reason": 1})),
    (404, "POST", DECLINE, lambda s: s.usual.post("/quote/x/decline", {})),
    (409, "POST", DECLINE, decline_an_order),
    (413, "POST", DECLINE, lambda s: send(s.usual, "POST /quote/x/decline", TOO_LONG)),
    (415, "POST", DECLINE, lambda s: send(s.usual, "POST /quote/x/decline", b"{}", "text/plain")),
    (400, "GET", "/request", lambda s: s.usual.get("/request?state=lost")),
    (414, "GET", "/request", many_requests),
    (400, "POST", "/request", lambda s: s.usual.post("/request", {"kind": "message"})),
    (404, "POST", "/request", lambda s: s.usual.post("/request", {**ASKED, "order_reference": "NOTHING"})),
    (409, "POST", "/request", ask_too_much),
    (413, "POST", "/request", lambda s: send(s.usual, "POST /request", TOO_LONG)),
    (415, "POST", "/request", lambda s: send(s.usual, "POST /request", b"{}", "text/plain")),
    (404, "DELETE", "/customer/address/{id}", lambda s: s.usual.delete("/customer/address/1")),
    (409, "POST", "/order", lambda s: s.strict.post("/order", order())),
    (402, "PUT", "/order/{reference}", confirm_beyond_the_limit),
    (409, "PUT", "/order/{reference}", lambda s: confirm_while_blocked(s.service)),
    (410, "PUT", "/order/{reference}", confirm_expired),
    (412, "POST", "/order", lambda s: s.usual.post("/order", order(auto_confirm=True))),
    (412, "GET", "/order/{reference}/invoice", invoice_too_early),
    (412, "PUT", "/order/{reference}", lambda s: confirm(s.usual, create(s.usual), None)),
    (413, "POST", "/order", lambda s: send(s.usual, "POST /order", TOO_LONG)),
    (400, "POST", "/quote", lambda s: s.usual.post("/quote", order(auto_confirm=True))),
    (402, "POST", "/quote", lambda s: s.poor.post("/quote", order())),
    (409, "POST", "/quote", lambda s: s.strict.post("/quote", order())),
    (404, "GET", "/quote/{confirmation_code}", lambda s: s.usual.get("/quote/unknown")),
    (413, "POST", "/quote", lambda s: send(s.usual, "POST /quote", TOO_LONG)),
    (415, "POST", "/quote", lambda s: send(s.usual, "POST /quote", b"<quote/>", "application/xml")),
    (413, "PUT", "/order/{reference}", lambda s: send(s.usual, "PUT /order/x", TOO_LONG)),
    (413, "POST", "/customer/address", lambda s: send(s.usual, "POST /customer/address", TOO_LONG)),
    (414, "GET", "/product", lambda s: s.usual.get(f"/product?{LONG_QUERY}")),
    (414, "GET", "/order", many_orders),
    (414, "GET", "/event", many_events),
    (415, "POST", "/order", lambda s: send(s.usual, "POST /order", b"<order/>", "application/xml")),
    (415, "PUT", "/order/{reference}", lambda s: send(s.usual, "PUT /order/x", b"x", "text/csv")),
    (415, "POST", "/customer/address", lambda s: send(s.usual, "POST /customer/address", b"x", "text/plain")),
]  # fmt: skip


FOR_APPLICATIONS = {
    "/oauth/token",
    "/auth/token",
    "/auth/revoke",
    "/auth/register",
}  # their errors have a body of their own
REJECTED_HEADS_ONLY = [
    (method.upper(), path)
    for path, methods in interface_document()["paths"].items()
    for method, operation in methods.items()
    if operation["responses"]["400"].get("description") == "The request's head is malformed."
]


def documented_error(method: str, path: str, status: int) -> dict[str, Any]:
    """Return the example of an operation's error."""
    document = interface_document()
    response = document["paths"][path][method.lower()]["responses"][str(status)]
    if "$ref" in response:
        response = document["components"]["responses"][response["$ref"].rpartition("/")[2]]
    example: dict[str, Any] = response["content"]["application/json"]["example"]
    return example


def assert_general(response: httpx2.Response, status: int) -> None:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    assert int(response.headers["content-length"]) == len(response.content)
    assert response.headers["X-Request-Id"]
    body = response.json()
    assert body.keys() - {"errors"} == {"message", "code"}
    assert isinstance(body["message"], str)
    assert body["message"].strip() == body["message"] != ""
    assert not LEAKS.search(body["message"])


@pytest.mark.sweep(every=8)
@pytest.mark.spec("2 OrderVideoResponse, Error, OAuthError", "an error is its message")
@pytest.mark.spec("4 POST /order", "its errors")
@pytest.mark.spec("7 Errors", "the status is set, the body is a message that says why")
@pytest.mark.parametrize(
    ("status", "method", "path", "send"), ERRORS, ids=[f"{e[0]} {e[1]} {e[2]} {n}" for n, e in enumerate(ERRORS)]
)
def test_an_error_has_the_general_body_and_is_announced(
    shoppers: Shoppers, status: int, method: str, path: str, send: Send
) -> None:
    response = send(shoppers)
    assert_general(response, status)
    assert response.json()["code"] == documented_error(method, path, status)["code"]


@pytest.mark.parametrize(("method", "path"), REJECTED_HEADS_ONLY)
def test_a_malformed_head_is_a_bad_request_everywhere(shoppers: Shoppers, method: str, path: str) -> None:
    assert_general(shoppers.nobody.request(method, path, headers={"Host": "a" * 256}), 400)


@pytest.mark.spec("7 Errors", "the status is set, the body is a message that says why")
@pytest.mark.parametrize(("method", "path"), [("GET", "/nowhere"), ("PATCH", "/order"), ("POST", "/product")])
def test_unknown_paths_and_methods_get_the_general_error_body(shoppers: Shoppers, method: str, path: str) -> None:
    assert_general(shoppers.nobody.request(method, path), 404 if path == "/nowhere" else 405)


@pytest.mark.spec("5 Authentication", "missing or invalid is 401 with an empty JSON body")
def test_only_a_rejected_credential_has_an_empty_error_body(shoppers: Shoppers) -> None:
    response = shoppers.nobody.get("/order")
    assert (response.status_code, response.content) == (401, b"{}")
    document = interface_document()
    body = document["components"]["responses"]["Unauthorized"]["content"]["application/json"]
    problems = problems_by(document, body["schema"])
    assert problems({}) == []
    assert problems({"message": "x"}) != []


@pytest.mark.spec("4 POST /order", "its errors")
@pytest.mark.spec("4 PUT /order/{reference}", "its errors")
def test_every_error_of_the_document_is_tried_here() -> None:
    """But for those of every operation: credentials, tokens, lockout and rate limit in `tests/api/identity/`, faults in
    `tests/api/web/test_faults.py`.
    """
    document = interface_document()
    announced = {
        (int(status), method.upper(), path)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        for status in operation["responses"]
        if int(status) >= 400 and status not in {"401", "403", "429", "500", "503"} and path not in FOR_APPLICATIONS
    }
    announced -= {(400, method, path) for method, path in REJECTED_HEADS_ONLY}
    assert announced == {(status, method, path) for status, method, path, _ in ERRORS}


def test_a_domain_error_says_what_is_valid(shoppers: Shoppers) -> None:
    messages = {(status, path): send(shoppers).json()["message"] for status, _, path, send in ERRORS}
    assert "sort: 'weight' is not one of" in messages[400, "/product"]
    assert messages[404, "/order/{reference}"] == "no pending order or quote has the confirmation_code NOTHING"
    assert "create it again" in messages[410, "/order/{reference}"]
    assert "shipping_method: is required" in messages[412, "/order"]
    assert "available credit of £1.00" in messages[402, "/order"]
    assert "PO-1" in messages[409, "/order"]
