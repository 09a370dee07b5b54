"""The real catalogue as a shop: real products with made-up prices, stock and the fields that their source lacks.

Everything made up follows from the SKU alone, so that it is the same on every run. Where the catalogue's folder is
absent, the project's own demo products take its place and the same is true of them.
"""

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from support.naive_catalogue import Buyer, NaiveCatalogue, Row, ShopRows
from support.service import Customer, Service
from tradecounter.kit.clock import uk_date

REAL_CATALOGUE = Path(__file__).parents[3] / "shared" / "catalogue"
TODAY = date(2026, 6, 16)

LISTS = ("default", "silver", "gold")


@dataclass(frozen=True)
class Visitor:
    """A customer, and what decides what it sees."""

    customer: Customer
    buyer: Buyer


@dataclass(frozen=True)
class RealShop:
    """The API with the catalogue in it, and the catalogue beside it."""

    service: Service
    naive: NaiveCatalogue
    visitors: dict[str, Visitor]

    @property
    def products(self) -> list[Row]:
        """The rows of all products that are for sale."""
        return [row for row in self.naive.rows.products if row.get("active", True)]


def stock_real_shop(service: Service) -> RealShop:
    """Fill an empty database with the catalogue and add customers of every kind."""
    assert uk_date(service.clock.now()) == TODAY
    rows = shop_rows()
    for kind in ("categories", "manufacturers", "attributes", "products", "stock", "incoming"):
        service.must_load(kind, getattr(rows, kind))
    service.must_load("price-list", rows.prices)
    visitors = {name: Visitor(_customer(service, buyer), buyer) for name, buyer in buyers(rows.products).items()}
    service.must_load(
        "contract-prices",
        (
            {"customer_id": v.customer.id, **row}
            for v in visitors.values()
            for rows in v.buyer.contracts.values()
            for row in rows
        ),
    )
    return RealShop(service, NaiveCatalogue(rows, TODAY), visitors)


def _customer(service: Service, buyer: Buyer) -> Customer:
    return service.customer(trade_account=buyer.trade, price_list=buyer.price_list, discount=buyer.discount)


def buyers(products: Sequence[Row]) -> dict[str, Buyer]:
    """Customers of every kind; the gold list and the default list together price every product."""
    return {
        "gold": Buyer("gold"),
        "silver less 7.35 %": Buyer("silver", Decimal("7.35"), trade=False),
        "no list": Buyer(None, trade=False),
        "contracts": Buyer(
            "default", Decimal("12.5"), contracts={row["sku"]: list(_contracts(row["sku"])) for row in products}
        ),
    }


@lru_cache
def shop_rows() -> ShopRows:
    """The import rows of the whole shop."""
    if REAL_CATALOGUE.is_dir():
        source, tables = REAL_CATALOGUE, "json"
    else:
        source, tables = Path(str(files("tradecounter.demo") / "data")), "jsonl"
    products = _read(source / "products.jsonl")
    skus = [row["sku"] for row in products]
    return ShopRows(
        categories=_read(source / f"categories.{tables}"),
        manufacturers=_read(source / f"manufacturers.{tables}"),
        attributes=_read(source / f"attributes.{tables}"),
        products=[_dressed(row, skus) for row in products],
        prices=[price for sku in skus for price in _prices(sku)],
        stock=[{"sku": sku, "available": units} for sku in skus if (units := _units(sku)) is not None],
        incoming=[delivery for sku in skus for delivery in _incoming(sku)],
    )


def _read(file: Path) -> list[Row]:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".jsonl":
        text = "[" + ",".join(line for line in text.split("\n") if line.strip()) + "]"
    rows: list[Row] = json.loads(text, parse_float=Decimal)
    return rows


def number(sku: str, purpose: str) -> int:
    """A number that follows from a SKU, another one for every purpose."""
    return zlib.crc32(f"{purpose}:{sku.casefold()}".encode())


def _dressed(row: Row, skus: list[str]) -> Row:
    """A product with made-up values for the fields that its source does not have."""
    sku = row["sku"]
    draw = number(sku, "dress")
    others = [skus[(draw + step) % len(skus)] for step in range(draw % 4)]
    made_up: Row = {
        "clearance_product": draw % 9 == 0,
        "consumer_unit_cost": _pounds(draw % 400_000),
        "short_description": f'Short "{row["name"]}", in brief\r\nand déjà vu' if draw % 3 else "",
        "description_html": f"<p>R&amp;D <b>{row['manufacturer']}</b></p>\n<ul><li>hypertext</li></ul>"
        if draw % 2
        else "",
        "store_url": f"https://store.example/{draw}?a=1&b=2" if draw % 5 else "",
        "images": [
            {"is_primary": place == 1, "url": f"https://img.example/{draw}/{place}.jpg"} for place in range(draw % 3)
        ],
        "related_products": others,
        "similar_products": others[:1],
    }
    return made_up | row


def _prices(sku: str) -> Iterator[Row]:
    """Prices on the three lists; the default list lacks some SKUs, which the gold list then has."""
    draw = number(sku, "price")
    listed = {"default": draw % 13 != 0, "silver": draw % 3 == 0, "gold": draw % 2 == 0 or draw % 13 == 0}
    for place, price_list in enumerate(LISTS):
        if listed[price_list]:
            yield {"price_list": price_list, "sku": sku, **_costs(draw // (place + 1))}


def _costs(draw: int) -> Row:
    single = 100 + draw % 900 * 37  # few enough for ties
    return {
        "single_unit_cost": _pounds(single),
        "five_plus_unit_cost": _pounds(single * 19 // 20) if draw % 3 else None,
        "ten_plus_unit_cost": _pounds(single * 9 // 10) if draw % 4 else None,
    }


def _contracts(sku: str) -> Iterator[Row]:
    """Contract prices on the edges of their validity, for half of the SKUs."""
    periods: dict[int, list[tuple[int | None, int | None]]] = {
        0: [(0, 0)],
        1: [(None, None)],
        2: [(None, -1)],
        3: [(1, None)],
        4: [(None, None), (-30, None)],
        5: [(-30, 30), (-10, -1)],
    }
    draw = number(sku, "contract")
    for place, (start, end) in enumerate(periods.get(draw % 12, [])):
        yield {"sku": sku, **_costs(draw // (place + 7)), "valid_from": _day(start), "valid_until": _day(end)}


def _units(sku: str) -> int | None:
    """Units in stock: none for a third, few for another; some SKUs the stock file does not name."""
    draw = number(sku, "stock")
    return (0, draw % 8, draw % 300, None)[draw % 4] if draw % 5 else 0


def _incoming(sku: str) -> Iterator[Row]:
    draw = number(sku, "incoming")
    if draw % 3 == 0:
        yield {"sku": sku, "incoming": 1 + draw % 50, "expected_on": f"{_day(20 + draw % 200)}T11:05:30"}
    if draw % 6 == 0:
        yield {"sku": sku, "incoming": 10, "expected_on": str(_day(1 + draw % 19))}


def _pounds(pence: int) -> Decimal:
    return Decimal(pence).scaleb(-2)


def _day(offset: int | None) -> Any:
    return None if offset is None else TODAY + timedelta(days=offset)
