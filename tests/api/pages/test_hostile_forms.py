"""Forms that no browser sends: encodings of the sender's choice, and bytes that are no text."""

import httpx2
import pytest

from support.backoffice import BackOfficeSite
from support.pages import Person, browser, text_of
from support.service import unused_client_address

SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


def multipart(http: httpx2.Client, path: str, parts: dict[bytes, bytes], charset: str = "") -> httpx2.Response:
    """The response to a form in parts; each has its disposition's parameters and its content."""
    lines = [b"--B\r\nContent-Disposition: form-data; %s\r\n\r\n%s\r\n" % part for part in parts.items()]
    media_type = f"multipart/form-data; boundary=B{charset and f'; charset={charset}'}"
    return http.post(path, content=b"".join(lines) + b"--B--\r\n", headers={**SAME_ORIGIN, "Content-Type": media_type})


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
