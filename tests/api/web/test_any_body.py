"""Whatever the body of a request contains, it is taken or rejected without a trace, at both sites."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.backoffice import backoffice_of
from support.fuzzed import damaged, fuzzed
from support.interface import backoffice_document, interface_document
from support.one_of_everything import SELLER, Reseller, one_of_everything
from support.service import Service
from support.shop import stock_shop
from support.stored import stored

pytestmark = pytest.mark.long

JSON = "application/json"
PIECES = [
    b"{", b"}", b"[", b"]", b":", b",", b'"', b"\\", b"\\u0000", b"\\ud800", b"\\u", b"null", b"true", b"NaN",
    b"Infinity",
    b"1e999999999", b"-0", b"0.1e-400", b"1" * 400, b"00", b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\n",
    b"//",
    b'"sku"', b'"items"', b'"quantity"', b'"id"', b'"":', b"[" * 2000, b'{"a":' * 2000, b'"a":1,' * 500, b"-", b".",
    b"'",
    b'"2026-02-30"', b'"9999-12-31T23:59:59-14:00"', b"99999999999999999999", b'"1e5"', b'"\xe2\x80\xae"',
]  # fmt: skip
pieces = st.sampled_from(PIECES) | st.binary(max_size=6)

Body = tuple[str, str, bytes]


def bodies_of(document: dict[str, Any]) -> list[Body]:
    """The method, the path and an example body of every operation that takes JSON."""
    found = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            examples = operation.get("requestBody", {}).get("content", {}).get(JSON, {}).get("examples", {})
            found += [(method.upper(), path, json.dumps(example["value"]).encode()) for example in examples.values()]
    return found


@pytest.fixture(scope="module")
def reseller(service: Service) -> Iterator[Reseller]:
    stock_shop(service)
    with backoffice_of(service, **SELLER) as office:
        yield one_of_everything(office)


def names_of(reseller: Reseller) -> dict[str, str]:
    """Existing names for the parameters of paths."""
    names = reseller.first.names
    return {
        "{reference}": names["ready"], "{orderItemId}": "1", "{code}": names["quote"],
        "{number}": str(names["invoice"]),
        "{id}": str(reseller.first.customer.id), "{confirmation_code}": names["pending"],
    }  # fmt: skip


def sent(reseller: Reseller, http: httpx2.Client, body: Body, content: bytes) -> None:
    """Send a body; fails if it is neither taken nor clearly rejected, or leaves something although it is rejected."""
    method, path, _ = body
    for name, value in names_of(reseller).items():
        path = path.replace(name, value)
    before = stored(reseller.service.database_url)
    response = http.request(method, path, content=content, headers={"Content-Type": JSON})
    assert response.status_code < 500, response.text
    if response.status_code >= 400:
        said = response.json()
        assert said.get("error" if path == "/auth/register" else "message"), said  # RFC 7591
        assert stored(reseller.service.database_url) == before


@fuzzed(150)
@given(st.data())
def test_a_damaged_body_of_a_customer_is_taken_or_rejected_without_a_trace(
    reseller: Reseller, data: st.DataObject
) -> None:
    body = data.draw(st.sampled_from(bodies_of(interface_document())))
    sent(reseller, reseller.first.customer.http, body, data.draw(damaged(body[2], pieces)))


@fuzzed(200)
@given(st.data())
def test_a_damaged_body_of_the_reseller_is_taken_or_rejected_without_a_trace(
    reseller: Reseller, data: st.DataObject
) -> None:
    body = data.draw(st.sampled_from(bodies_of(backoffice_document())))
    sent(reseller, reseller.staff, body, data.draw(damaged(body[2], pieces)))
