"""Invents another catalogue's missing data (prices, stock and others); the same products give the same data."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from tradecounter.bulk.rows import BadRow, Row
from tradecounter.demo.files import rows_of
from tradecounter.kit.money import from_pence, percentage
from tradecounter.prices.importing import PriceRow
from tradecounter.products.import_rows import CategoryRow, ManufacturerRow, ProductRow
from tradecounter.stock.importing import StockRow

Products = Sequence[Row[ProductRow]]

_LISTS = (("default", Decimal(100)), ("silver", Decimal(94)), ("gold", Decimal(88)))
_SUFFIXES = (".json", ".jsonl", ".csv")


def reference_rows(products_file: str, products: Products) -> Iterator[tuple[str, Iterable[Row[Any] | BadRow[Any]]]]:
    """Yield categories, manufacturers and attributes from files beside the products file, or else from the products."""
    made_up = {"categories": _categories(products), "manufacturers": _manufacturers(products), "attributes": ()}
    for kind, rows in made_up.items():
        path = _beside(products_file, kind)
        yield kind, rows if path is None else rows_of(kind, path)


def made_up_prices(products: Products) -> Iterator[Row[Any] | BadRow[Any]]:
    """Yield prices of all products for the three demo price lists."""
    for row in products:
        single = from_pence(500 + _number(row.values.sku, "price") % 200_000)
        for price_list, percent in _LISTS:
            cost = percentage(single, percent)
            yield Row(
                row.line,
                PriceRow(
                    price_list, row.values.sku, cost, percentage(cost, Decimal(97)), percentage(cost, Decimal(94))
                ),
            )


def made_up_stock(products: Products) -> Iterator[Row[Any] | BadRow[Any]]:
    """Yield a stock level for each product; about a quarter are out of stock."""
    for row in products:
        number = _number(row.values.sku, "stock")
        yield Row(row.line, StockRow(row.values.sku, 0 if number % 4 == 0 else number % 250))


def _beside(products_file: str, stem: str) -> str | None:
    if products_file == "-":
        return None
    paths = (Path(products_file).with_name(stem + suffix) for suffix in _SUFFIXES)
    return next((str(path) for path in paths if path.exists()), None)


def _manufacturers(products: Products) -> Iterator[Row[Any]]:
    lines: dict[str, Row[Any]] = {}
    for row in products:
        key, name = row.values.manufacturer, row.values.manufacturer_name
        if isinstance(key, str):
            lines.setdefault(key, Row(row.line, ManufacturerRow(key, name if isinstance(name, str) and name else key)))
    yield from lines.values()


def _categories(products: Products) -> Iterator[Row[Any]]:
    lines: dict[str, Row[Any]] = {}
    for row in products:
        if isinstance(row.values.categories, list):
            for key in row.values.categories:
                lines.setdefault(key, Row(row.line, CategoryRow(key, key)))
    yield from lines.values()


def _number(sku: str, purpose: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{purpose}:{sku}".encode()).digest()[:6])
