"""Forms that no browser sends: encodings of the sender's choice, and bytes that are no text."""

import httpx2
import pytest

from support.backoffice import BackOfficeSite
from support.orders import buy, create, dispatch
from support.pages import Person, browser, customer_user, text_of
from support.quotes import request_quote
from support.service import unused_client_address

SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


def multipart(http: httpx2.Client, path: str, parts: dict[bytes, bytes], charset: str = "") -> httpx2.Response:
    """The response to a form in parts; each has its disposition's parameters and its content."""
    lines = [b"--B\r\nContent-Disposition: form-data; %s\r\n\r\n%s\r\n" % part for part in parts.items()]
    media_type = f"multipart/form-data; boundary=B{charset and f'; charset={charset}'}"
    return http.post(path, content=b"".join(lines) + b"--B--\r\n", headers={**SAME_ORIGIN, "Content-Type": media_type})


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(
    "charset", ["utf-7", "unicode_escape", "raw_unicode_escape", "undefined", "punycode", "zlib", "utf-16", "no-such"]
)
@pytest.mark.parametrize("path", ["/sign-in", "/account/sign-in"])
def test_a_form_is_utf_8_whatever_encoding_it_names(office: BackOfficeSite, path: str, charset: str) -> None:
    url = office.service.url if path.startswith("/account") else office.url
    parts = {b'name="email"': b"a+2AA-\\ud800@b.example", b'name="password"': b"+2AA-\\ud800\\udfff"}
    http = browser(url)
    http.headers["X-Forwarded-For"] = unused_client_address()  # guesses from one address are limited
    found = multipart(http, path, parts, charset)
    assert found.status_code == 401
    assert "a+2AA-\\ud800@b.example" in found.text


@pytest.mark.parametrize(
    "parts",
    [
        {b'name="text"': b"\xff\xfe"},
        {b'name="text"': b"a\x00b"},
        {b'name="\xff"': b"a"},
        {b'name="file"; filename="\xff.csv"': b"sku,quantity"},
        {b'name="file"; filename="a\x00.csv"': b"sku,quantity"},
    ],
)
def test_bytes_that_are_no_text_are_an_error_of_the_form(sam: Person, parts: dict[bytes, bytes]) -> None:
    found = multipart(sam.http, "/import", parts)
    assert found.status_code == 400
    assert "The form" in text_of(found)


@pytest.mark.parametrize("media_type", ["multipart/form-data", "multipart/form-data; boundary=B"])
def test_what_is_no_form_is_said_in_one_sentence(sam: Person, media_type: str) -> None:
    headers = {**SAME_ORIGIN, "Content-Type": media_type}
    found = sam.http.post("/import", content=b"--B\r\nno header", headers=headers)
    assert found.status_code == 400
    assert "The form cannot be read: " in text_of(found)
    assert ".." not in text_of(found)


def test_names_of_files_are_utf_8(sam: Person) -> None:
    content = b"sku,available\nNOTHING,1\n"
    found = multipart(sam.http, "/import", {'name="file"; filename="Bestände €.csv"'.encode(): content})
    assert found.status_code == 303
    assert "Bestände €.csv" in text_of(sam.get(found.headers["Location"]))


def test_a_form_has_a_limited_number_of_fields(sam: Person) -> None:
    body = "&".join(f"f{number}=x" for number in range(5_001))
    headers = {**SAME_ORIGIN, "Content-Type": "application/x-www-form-urlencoded"}
    found = sam.http.post("/payment/new", content=body, headers=headers)
    assert found.status_code == 413
    assert "more than 5000 fields" in text_of(found)


def test_a_form_in_parts_without_its_end_is_rejected(sam: Person) -> None:
    body = b'--B\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nsku,available\nPHONE,1'
    headers = {**SAME_ORIGIN, "Content-Type": "multipart/form-data; boundary=B"}
    found = sam.http.post("/import", content=body, headers=headers)
    assert found.status_code == 400
    assert "its end is missing" in text_of(found)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("number", ["9" * 20, "9" * 30, "9" * 31, "9" * 5_000])
def test_numbers_of_any_length_are_errors_of_the_form(office: BackOfficeSite, sam: Person, number: str) -> None:
    service = office.service
    customer = service.customer()
    placed = buy(customer)
    dispatch(service, placed)
    ready, item = placed["order_reference"], str(placed["items"][0]["id"])
    code = request_quote(customer)["confirmation_code"]
    pending = create(customer)["confirmation_code"]
    buyer = customer_user(service, customer.id)
    line = {"items-0-id": item, "items-0-had": "1", "items-0-cost": "50"}
    for person, path, fields in (
        (sam, f"/order/{pending}/confirm", {"shipping_method": number}),
        (sam, f"/order/{ready}/return", {"reason": "r", "items-0-id": item, "items-0-quantity": number}),
        (sam, f"/order/{ready}/return", {"reason": "r", "items-0-id": number, "items-0-quantity": "1"}),
        (sam, f"/order/{ready}/cancel", {"reason": "r", "items-0-id": number, "items-0-quantity": number}),
        (sam, f"/order/{ready}/amend", line | {"items-0-quantity": number, "items-0-unit_cost": number}),
        (sam, f"/order/{ready}/amend", {"shipping_method": number, "reason": "r"}),
        (sam, f"/quote/{code}/price", {"method": number, "method_cost": "1", "force": "true"}),
        (sam, f"/quote/{code}/price", {"shipping-0-id": number, "shipping-0-cost_net": number}),
        (sam, f"/quote/{code}/price", {"items-0-sku": "PHONE", "items-0-price": number}),
        (sam, f"/customer/{customer.id}/trade-terms", {"shipping_method": number}),
        (sam, f"/customer/{customer.id}/credit-terms", {"credit_limit": number, "term_days": number}),
        (sam, "/customer/new", {"email_address": "a@b.example", "first_name": "A", "last_name": "B",
                                "shipping_method": number}),
        (sam, "/payment/new", {"invoice": number, "amount": number}),
        (sam, "/payment/new", {"customer_id": number, "amount": "5"}),
        (sam, "/stock-adjustment", {"sku": "PHONE", "reason": "r", "set": number}),
        (sam, "/stock-adjustment", {"sku": "PHONE", "reason": "r", "change": f"-{number}"}),
        (sam, "/webhook/new", {"url": "https://hooks.example/a", "customer_id": number}),
        (sam, f"/order/new/{customer.id}", {"items-0-sku": "PHONE", "items-0-quantity": "1", "do": "order",
                                            "shipping_address-id": number}),
        (buyer, "/account/new-order", {"items-0-sku": "PHONE", "items-0-quantity": "1", "do": "order",
                                       "shipping_address-id": number}),
        (buyer, f"/account/new-order/{pending}", {"shipping_method": number}),
        (buyer, "/account/developer/feed/new", {"name": "F", "columns": "sku", "markup": number}),
    ):  # fmt: skip
        response = person.send(path, fields)
        assert 400 <= response.status_code < 500, (path, fields, response.status_code)
