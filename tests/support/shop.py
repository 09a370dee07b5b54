"""A small catalogue to order from, and the pieces of an order."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from support.service import Service, running_service

ORIGIN = "https://shop.example"  # of the page that may call `shop_with_all_headers`

ADDRESS = {
    "contact_name": "Ada Example",
    "street_one": "1 Test Street",
    "city": "Leeds",
    "zip": "LS1 1AA",
    "country_code": "GB",
}
GERMAN_ADDRESS = {**ADDRESS, "city": "Hamburg", "zip": "20095", "country_code": "DE"}

STANDARD = 11
NEXT_DAY = 12
EUROPE = 71

METHODS: list[dict[str, Any]] = [
    {
        "id": STANDARD,
        "provider": "Slowpost",
        "description": "Standard",
        "region": 1,
        "countries": ["GB"],
        "max_weight_kg": 30,
        "base_cost_net": 5,
        "cost_per_kg_net": "0.50",
        "transit_days": 2,
        "cut_off": "16:00",
    },
    {
        "id": NEXT_DAY,
        "provider": "Fastvan",
        "description": "Next day",
        "region": 1,
        "countries": ["GB"],
        "max_weight_kg": 1000,
        "base_cost_net": 10,
        "transit_days": 1,
        "cut_off": "17:30",
    },
    {
        "id": EUROPE,
        "provider": "Eurovan",
        "description": "Europe",
        "region": 7,
        "countries": ["DE", "FR"],
        "max_weight_kg": 100,
        "base_cost_net": 20,
        "transit_days": 4,
        "cut_off": "14:00",
    },
]


def product(sku: str, **values: Any) -> dict[str, Any]:
    """A product's import row."""
    return {"sku": sku, "name": f"Product {sku}", "manufacturer": "acme", "weight_kg": 1, **values}


def price(sku: str, single: Any, five: Any = None, ten: Any = None, price_list: str = "default") -> dict[str, Any]:
    """A price's import row."""
    return {
        "price_list": price_list,
        "sku": sku,
        "single_unit_cost": single,
        "five_plus_unit_cost": five,
        "ten_plus_unit_cost": ten,
    }


def stock_shop(service: Service) -> None:
    """Fill an empty database: three products with prices, breaks and stock, and the shipping methods."""
    service.must_load("manufacturers", [{"key": "acme", "name": "Acme"}])
    service.must_load("products", [product("PHONE"), product("CABLE", weight_kg="0.1"), product("SWITCH", weight_kg=5)])
    service.must_load(
        "price-list", [price("PHONE", 50, 45, 40), price("CABLE", "1.99", "1.79"), price("SWITCH", "299.99")]
    )
    service.must_load(
        "stock", [{"sku": s, "available": n} for s, n in (("PHONE", 100), ("CABLE", 1000), ("SWITCH", 3))]
    )
    service.must_load("shipping-methods", METHODS)


@contextmanager
def shop_with_all_headers(database_url: str) -> Iterator[Service]:
    """Run the API with the small catalogue so that a response can have every header."""
    with running_service(
        database_url, base_url="https://api.shop.example", cors_origins=ORIGIN, rate_limit=10**9
    ) as running:
        stock_shop(running)
        yield running


def order(items: Iterable[tuple[str, int]] = (("PHONE", 1),), **values: Any) -> dict[str, Any]:
    """The body of `POST /order`, by default for one phone to Leeds."""
    return {
        "customer_reference": "PO-1",
        "items": [{"sku": sku, "quantity": quantity} for sku, quantity in items],
        "billing_address": ADDRESS,
        "shipping_address": ADDRESS,
        **values,
    }
