"""Cursors that no link of a page has, in every list of both sites."""

import base64
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fuzzed import damaged, fuzzed
from support.pages import Person, customer_user
from support.service import Service

pytestmark = pytest.mark.sweep(every=8)

_TOO_LARGE = 2**63
_VALUES: tuple[Any, ...] = (
    1, "a", _TOO_LARGE, -_TOO_LARGE - 1, 10**40, "NaN", "Infinity", "1e999999", "-1e-999999", "a\x00b",
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-03-01T12:00:00", "2026-03-01", None,
    ["a", 1], ["a\x00", 1], ["a", _TOO_LARGE],
)  # fmt: skip
_OF_STAFF = (
    "/order?sort=placed", "/order?sort=-total", "/order?sort=customer", "/quote", "/return", "/customer?sort=name",
    "/customer?sort=added", "/customer?sort=limit", "/customer/{id}/order?sort=-placed", "/customer/{id}/event",
    "/customer/{id}/price", "/product", "/invoice?sort=number", "/invoice?sort=gross", "/invoice?sort=-due_on",
    "/payment?sort=recorded", "/payment?sort=received", "/payment?sort=amount", "/credit-note", "/money", "/import",
    "/job", "/audit", "/webhook", "/request", "/count-sheet", "/customer/{id}/timeline", "/vat/document",
)  # fmt: skip
_OF_CUSTOMERS = (
    "/account/order?sort=placed", "/account/order?sort=-total", "/account/order/unconfirmed", "/account/quote",
    "/account/order/cancelled", "/account/invoice", "/account/invoice/credit-note",
)  # fmt: skip


def cursor(value: Any, row_id: int) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode([value, row_id])).decode().rstrip("=")


def statuses(person: Person, path: str) -> dict[str, int]:
    """The statuses of a list behind each cursor that are neither success nor the client's error."""
    sign = "&" if "?" in path else "?"
    cursors = [(value, row_id) for value in _VALUES for row_id in (1, _TOO_LARGE)]
    found = {f"{each}": person.get(f"{path}{sign}after={cursor(*each)}").status_code for each in cursors}
    return {each: status for each, status in found.items() if status not in {200, 400}}


@pytest.mark.parametrize("path", _OF_STAFF)
def test_no_cursor_breaks_a_list_of_the_office(sam: Person, shop: Service, path: str) -> None:
    assert statuses(sam, path.replace("{id}", str(shop.customer().id))) == {}


@pytest.mark.sweep
@pytest.mark.parametrize("path", _OF_CUSTOMERS)
def test_no_cursor_breaks_a_list_of_the_account(shop: Service, path: str) -> None:
    assert statuses(customer_user(shop, shop.customer().id), path) == {}


@pytest.mark.parametrize("value", ["99999999999999999999999999", "9223372036854775808"])
@pytest.mark.parametrize(
    "path",
    [
        "/order?customer_id=", "/invoice?number=", "/invoice?customer_id=", "/invoice?order=", "/payment?invoice=",
        "/payment?customer_id=", "/credit-note?invoice=", "/credit-note?customer_id=", "/customer/", "/invoice/",
        "/payment/", "/credit-note/", "/import/", "/webhook/", "/job/", "/return/", "/account/order/",
        "/customer?query=", "/search?query=", "/payment/new?invoice=", "/payment/new?customer_id=",
        "/order/new?customer_id=",
    ],
)  # fmt: skip
def test_no_number_breaks_a_page(sam: Person, path: str, value: str) -> None:
    assert sam.get(f"{path}{value}").status_code in {200, 303, 400, 404}


@pytest.mark.parametrize(
    "path", ["/invoice?issued_to=", "/invoice?issued_from=", "/credit-note?issued_to=", "/payment?received_to="]
)
@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01", "x", "2026-02-30"])
def test_no_day_breaks_a_list(sam: Person, path: str, day: str) -> None:
    assert sam.get(f"{path}{day}").status_code in {200, 400}


_NASTY = (
    "\x00", "a\x00b", "'", "-1", "0", "9223372036854775808", "9" * 30, "\u0663", "x" * 5000, "../../etc", "%00", "1e3",
    "NaN", "5-1", "-", "=", "attribute=", " ", "\u202e", "\r\n\r\n", "\U0001f600",
)  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize(
    "path",
    [
        "/account/product?query=", "/account/product?category=", "/account/product?manufacturer=",
        "/account/product?attribute=", "/account/product?price=", "/account/product?page=", "/account/product?sort=",
        "/account/product/", "/account/list/", "/account/list/new?source=", "/account/list/add?sku=",
        "/account/list/add?quantity=", "/account/approval/", "/account/new-order/", "/account/new-order?again=",
        "/account/new-order?add=", "/account/invoice/", "/account/invoice?reference=", "/account/invoice/zip?show=",
        "/account/order/", "/account/order/ORD-1/ask/",
    ],
)  # fmt: skip
def test_no_text_breaks_a_page_of_the_account(owner: Person, path: str) -> None:
    found = {text: owner.get(f"{path}{quote(text, safe='')}").status_code for text in _NASTY}
    assert {text: status for text, status in found.items() if status not in {200, 303, 400, 404}} == {}


@pytest.mark.sweep
@pytest.mark.parametrize(
    "path",
    [
        "/order/many/dispatch?order=", "/order/many/invoice?order=", "/order/many/picking-list?order=",
        "/order/many/packing-slip?order=", "/product-form?sku=", "/product-form?like=", "/goods-in?query=",
        "/count-sheet?place=", "/count-sheet?query=", "/view?of=", "/view/new?of=", "/view/", "/order/new/",
        "/order/new?customer=", "/customer/", "/order/many/pick?order=", "/money/remind?customer=",
        "/product-change?sku=", "/product-change?sku=PHONE&back=",
    ],
)  # fmt: skip
def test_no_text_breaks_a_page_of_the_office(sam: Person, path: str) -> None:
    found = {text: sam.get(f"{path}{quote(text, safe='')}").status_code for text in _NASTY}
    assert {text: status for text, status in found.items() if status not in {200, 303, 400, 404, 409}} == {}


_scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
_cursors = (
    st.builds(cursor, st.sampled_from(_VALUES) | _scalars | st.lists(_scalars, max_size=3), st.integers(-1, 2**63))
    | damaged(cursor("a", 1).encode(), st.binary(max_size=3)).map(lambda raw: quote(raw, safe=""))
    | st.text(max_size=12).map(lambda text: quote(text, safe="", errors="replace"))
)


@pytest.fixture(scope="module")
def owner(shop: Service) -> Person:
    return customer_user(shop, shop.customer().id)


@pytest.mark.sweep
@fuzzed(150)
@given(st.sampled_from([*_OF_STAFF, *_OF_CUSTOMERS]), _cursors)
def test_no_text_in_the_place_of_a_cursor_breaks_a_list(sam: Person, owner: Person, path: str, after: str) -> None:
    sign = "&" if "?" in path else "?"
    person = owner if path.startswith("/account") else sam
    found = person.get(f"{path.replace('{id}', '1')}{sign}after={after}")
    assert found.status_code in {200, 400, 404}, found.text
