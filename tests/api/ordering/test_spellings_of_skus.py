"""SKUs, manufacturers and price lists are found in any case, composition and with blank ends."""

import httpx2
import pytest

from support.orders import sell
from support.service import Service
from support.shop import order

COMPOSED, APART = "CAF\u00c9-1", "cafe\u0301-1"


@pytest.mark.parametrize("sku", [COMPOSED, APART, f" {APART}\u200b", f"\ufeff{COMPOSED} "])
def test_an_order_finds_a_sku_in_any_spelling(shop: Service, sku: str) -> None:
    sell(shop, COMPOSED, 60, available=10)
    customer = shop.customer()
    response = customer.post("/order", order([(sku, 1)]))
    assert response.status_code == 201, response.text
    assert response.json()["items"][0]["sku"] == COMPOSED
    found: httpx2.Response = customer.get("/product/" + sku.strip(), headers={"Accept": "application/json"})
    assert found.json()["sku"] == COMPOSED
