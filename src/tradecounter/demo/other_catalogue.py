"""Prices and stock for a catalogue that comes without: made up from each SKU, the same on every run."""

import hashlib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from tradecounter.catalogue.importing import ProductRow
from tradecounter.db.import_files import BadRow, Row, read_rows
from tradecounter.kit.money import from_pence, percentage
from tradecounter.pricing.importing import PriceRow
from tradecounter.stock.importing import StockRow

BESIDE = (("categories", "categories"), ("manufacturers", "manufacturers"), ("attributes", "attributes"))

_LISTS = (("default", Decimal(100)), ("silver", Decimal(94)), ("gold", Decimal(88)))
_SUFFIXES = (".json", ".jsonl", ".csv")


def companion_files(products_file: str) -> Iterator[tuple[str, str]]:
    """Yield the kinds and paths of the files that belong to a products file and lie beside it."""
    folder = Path(products_file).parent
    for kind, stem in BESIDE:
        for suffix in _SUFFIXES:
            if (folder / (stem + suffix)).exists():
                yield kind, str(folder / (stem + suffix))
                break


def made_up_prices(products_file: str) -> Iterator[Row[Any] | BadRow]:
    """Yield prices for every product on the three demo price lists."""
    for row in _products(products_file):
        single = from_pence(500 + _number(row.values.sku, "price") % 200_000)
        for price_list, percent in _LISTS:
            cost = percentage(single, percent)
            yield Row(
                row.line,
                PriceRow(
                    price_list,
                    row.values.sku,
                    cost,
                    percentage(cost, Decimal(97)),
                    percentage(cost, Decimal(94)),
                ),
            )


def made_up_stock(products_file: str) -> Iterator[Row[Any] | BadRow]:
    """Yield a stock level for every product; about a quarter have none."""
    for row in _products(products_file):
        number = _number(row.values.sku, "stock")
        yield Row(row.line, StockRow(row.values.sku, 0 if number % 4 == 0 else number % 250))


def _products(products_file: str) -> Iterator[Row[ProductRow]]:
    for row in read_rows(products_file, ProductRow):
        if isinstance(row, Row):
            yield row


def _number(sku: str, purpose: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{purpose}:{sku}".encode()).digest()[:6])
