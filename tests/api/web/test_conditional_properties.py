"""After any change of data, a tag still identifies the same bytes, and 304 is sent only for current ones."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import product as combinations
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.service import MORNING, Customer, Service
from support.shop import price, product

pytestmark = pytest.mark.sweep

SKUS = ("PHONE", "CABLE", "SWITCH")
QUERIES = ("", "?sort=price&limit=2", "?inStock=true&sort=availability", "?query=phone&extra=description", "?limit=0")
FORMATS = ("application/json", "text/csv")
SHOWN = ("x-total-count", "x-page", "x-limit", "x-total-pages", "link", "content-type")

Change = tuple[str, dict[str, Any]]
skus, few = st.sampled_from(SKUS), st.integers(0, 6)

Seen = dict[str, tuple[bytes, list[str | None]]]


@pytest.fixture(scope="module")
def customers(shop: Service) -> Iterator[list[Customer]]:
    shop.must_load("price-list", [price("PHONE", 48, price_list="gold")])
    shop.must_load("categories", [{"key": "desk", "name": "Desk"}])
    yield [shop.customer(), shop.customer(price_list="gold"), shop.customer(trade_account=False)]
    shop.clock.set(MORNING)


@pytest.fixture(scope="module")
def seen() -> Seen:
    """The content of every response so far, by request and tag."""
    return {}


changes = st.one_of(
    st.builds(lambda sku, cost, key: ("price-list", price(sku, cost + 1, price_list=key)), skus, few,
              st.sampled_from(["default", "gold"])),
    st.builds(lambda sku, n: ("stock", {"sku": sku, "available": n}), skus, few),
    st.builds(lambda sku, n: ("incoming", {"sku": sku, "incoming": n + 1, "expected_on": "2026-07-01"}), skus, few),
    st.builds(lambda sku, n: ("products", product(sku, description=f"phone {n}", active=n > 0)), skus, few),
    st.builds(lambda n: ("categories", {"key": "desk", "name": f"Desk {n}"}), few),
    st.builds(lambda n: ("manufacturers", {"key": "acme", "name": f"Acme {n}"}), few),
    st.builds(lambda who, n: ("customers", {"who": who, "discount": n, "trade_account": n > 2}), few, few),
    st.builds(
        lambda who, sku, n: ("contract-prices", {
            "who": who, "sku": sku, "single_unit_cost": n, "valid_from": f"2026-06-{16 + n}",
        }), few, skus, few),
    st.builds(lambda n: ("clock", {"days": n}), few),
)  # fmt: skip


def carry_out(shop: Service, customers: list[Customer], kind: str, values: dict[str, Any]) -> None:
    row = dict(values)
    if kind == "clock":
        shop.clock.set(MORNING + timedelta(days=row["days"]))
        return
    if "who" in row:
        customer = customers[row.pop("who") % len(customers)]
        if kind == "customers":
            row["email_address"] = customer.get("/customer").json()["email_address"]
        else:
            row["customer_id"] = customer.id
    shop.must_load(kind, [row])


def content(response: httpx2.Response) -> tuple[bytes, list[str | None]]:
    return response.content, [response.headers.get(name) for name in SHOWN]


def check(customer: Customer, path: str, media: str, coding: str, seen: Seen, last_tags: dict[str, str]) -> None:
    """Send a request with and without the last tag; 304 must agree with the full response."""
    headers = {"Accept": media, "Accept-Encoding": coding}
    now = customer.get(path, headers=headers)
    place = f"{path} {media} {coding}"
    known = seen.setdefault(f"{place} {now.headers['ETag']}", content(now))
    assert known == content(now)
    before = last_tags.get(f"{customer.id} {place}")
    if before is not None:
        again = customer.get(path, headers={**headers, "If-None-Match": before})
        assert again.status_code == (304 if before == now.headers["ETag"] else 200)
        if again.status_code == 304:
            assert seen[f"{place} {before}"] == content(now)
    last_tags[f"{customer.id} {place}"] = now.headers["ETag"]


@settings(max_examples=12, deadline=None, derandomize=True)
@given(st.lists(changes, min_size=1, max_size=4))
def test_a_tag_identifies_the_same_bytes_after_any_change(
    shop: Service, customers: list[Customer], seen: Seen, steps: list[Change]
) -> None:
    last_tags: dict[str, str] = {}
    for kind, values in [("clock", {"days": 0}), *steps]:
        carry_out(shop, customers, kind, values)
        for customer, (query, media) in combinations(customers, zip(QUERIES, FORMATS * 3, strict=False)):
            check(customer, f"/product{query}", media, "gzip" if media == "text/csv" else "identity", seen, last_tags)
        check(customers[0], "/category", "application/json", "identity", seen, last_tags)
        check(customers[0], "/manufacturer", "application/json", "identity", seen, last_tags)
