"""What holds every response of the tests to the interface document does notice what breaks it."""

from typing import Any

import httpx2
import pytest

from support.interface import interface
from support.service import Service

STANDING = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "frame-ancestors 'none'",
}
ID = {"X-Request-Id": "1", **STANDING}
JSON = {**ID, "Content-Type": "application/json"}
ALLOW = {**JSON, "Allow": "GET, HEAD, OPTIONS"}
CUSTOMER = {"first_name": "A", "last_name": "B", "email_address": "a@b.example", "trade_account": True,
            "credit_terms": None}  # fmt: skip
PAGING = {**JSON, "X-Total-Count": "0", "X-Page": "1", "X-Limit": "100", "X-Total-Pages": "0"}
CSV = {**PAGING, "Content-Type": "text/csv; charset=utf-8"}
WRONG: Any = {"message": "wrong", "code": "invalid"}


def response(method: str, path: str, status: int, headers: dict[str, str], body: Any = None) -> httpx2.Response:
    content = {"content": body} if isinstance(body, bytes) else {} if body is None else {"json": body}
    request = httpx2.Request(method, f"http://shop.example{path}")
    return httpx2.Response(status, headers=headers, request=request, **content)


GOOD = {
    "a response": ("GET", "/customer", 200, JSON, CUSTOMER),
    "a response without a body to HEAD": ("HEAD", "/customer", 200, JSON, None),
    "what is left of the rate limit": ("GET", "/customer", 200, {**JSON, "RateLimit": "x"}, CUSTOMER),
    "an empty page": ("GET", "/order?limit=100", 200, PAGING, []),
    "an empty table": ("GET", "/order", 200, CSV, b"id\r\n"),
    "an error": ("GET", "/order?page=0", 400, JSON, WRONG),
    "a rejected credential": ("GET", "/order", 401, {**JSON, "WWW-Authenticate": "Bearer"}, {}),
    "an unknown address": ("GET", "/nowhere", 404, JSON, WRONG),
    "an unknown method": ("PATCH", "/customer", 405, ALLOW, WRONG),
    "what is possible": ("OPTIONS", "/customer", 204, {**ID, "Allow": "GET, HEAD, OPTIONS"}, None),
    "a deletion": ("DELETE", "/customer/address/1", 204, ID, None),
    "the page for people": ("GET", "/docs", 200, {**ID, "Content-Type": "text/html"}, b"<p>"),
}
BAD = {
    "no request id": ("GET", "/customer", 200, {"Content-Type": "application/json", **STANDING}, CUSTOMER),
    "no guard against sniffing": ("GET", "/customer", 200, {**JSON, "X-Content-Type-Options": "none"}, CUSTOMER),
    "no guard against frames": ("GET", "/customer", 200, {**JSON, "Content-Security-Policy": "x"}, CUSTOMER),
    "an unannounced status": ("GET", "/customer", 418, JSON, WRONG),
    "another success": ("GET", "/customer", 201, JSON, CUSTOMER),
    "a missing member": ("GET", "/customer", 200, JSON, {**CUSTOMER, "first_name": None}),
    "a member that is not described": ("GET", "/customer", 200, JSON, {**CUSTOMER, "secret": 1}),
    "a null that should be left out": ("GET", "/customer", 200, JSON, {**CUSTOMER, "accounts_email": None}),
    "another media type": ("GET", "/customer", 200, {**ID, "Content-Type": "text/plain"}, CUSTOMER),
    "no paging headers": ("GET", "/order", 200, JSON, []),
    "a page that is no number": ("GET", "/order", 200, {**PAGING, "X-Page": "one"}, []),
    "a header that is not described": ("GET", "/customer", 200, {**JSON, "X-Secret": "1"}, CUSTOMER),
    "a table that is not UTF-8": ("GET", "/order", 200, CSV, b"\xff"),
    "an error without a message": ("GET", "/order", 400, JSON, {"code": "invalid"}),
    "an error without a code": ("GET", "/order", 400, JSON, {"message": "wrong"}),
    "a rejected credential with a message": ("GET", "/order", 401, {**JSON, "WWW-Authenticate": "Bearer"}, WRONG),
    "a rejected credential without a challenge": ("GET", "/order", 401, JSON, {}),
    "a body where there is none": ("DELETE", "/customer/address/1", 204, ID, b"x"),
    "a response from nowhere": ("GET", "/nowhere", 200, JSON, CUSTOMER),
    "an unknown address in another tongue": ("GET", "/nowhere", 404, {**ID, "Content-Type": "text/html"}, b"<p>"),
    "an unknown method with a response": ("PATCH", "/customer", 200, JSON, CUSTOMER),
    "an unknown method without Allow": ("PATCH", "/customer", 405, JSON, WRONG),
    "too much possible": ("OPTIONS", "/customer", 204, {**ID, "Allow": "GET, HEAD, OPTIONS, PUT"}, None),
}


@pytest.mark.parametrize("given", GOOD.values(), ids=GOOD)
def test_documented_responses_pass(given: Any) -> None:
    interface().check(response(*given))


@pytest.mark.spec("1 General rules", "responses are JSON unless stated")
@pytest.mark.spec("1 Pagination", "the body is a plain array or table; the headers say total, page, limit and pages")
@pytest.mark.spec("4 DELETE /customer/address/{id}", "204 without a body; unknown is 404")
@pytest.mark.spec("7 Errors", "the status is set, the body is a message that says why")
@pytest.mark.parametrize("given", BAD.values(), ids=BAD)
def test_undocumented_responses_fail(given: Any) -> None:
    with pytest.raises((AssertionError, UnicodeDecodeError)):
        interface().check(response(*given))


def test_every_client_of_the_tests_is_checked(service: Service) -> None:
    [hook] = service.client().event_hooks["response"]
    with pytest.raises(AssertionError, match="against the document"):
        hook(response(*BAD["a response from nowhere"]))


@pytest.mark.parametrize(
    ("path", "template"),
    [
        ("/product", "/product"),
        ("/product/a/b", "/product/{sku}"),
        ("/order/1", "/order/{reference}"),
        ("/customer/credit", "/customer/credit"),
        ("/customer/address/1", "/customer/address/{id}"),
        ("/order/", None),
        ("/nowhere", None),
    ],
)
def test_requests_are_matched_to_documented_paths(path: str, template: str | None) -> None:
    assert interface().path_of(path) == template
