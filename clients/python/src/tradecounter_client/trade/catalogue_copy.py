"""A copy of the catalogue in a SQLite database, which may be killed at any time."""

import sqlite3
from contextlib import closing
from pathlib import Path

from rich.console import Console
from rich.progress import track

from tradecounter_client.base import to_json
from tradecounter_client.catalogue_sync import Batch
from tradecounter_client.client import Tradecounter
from tradecounter_client.models import Product

_WAIT = 20  # seconds that a request waits for a change
_TABLES = """
create table if not exists product (
  sku text primary key, name text not null, manufacturer text not null, single_unit_cost text not null,
  five_plus_unit_cost text not null, ten_plus_unit_cost text not null, available integer not null,
  status text not null, data text not null
) strict;
create table if not exists cursor (only integer primary key check (only = 1), value text not null) strict;
"""
_STORE = "insert or replace into product values (?, ?, ?, ?, ?, ?, ?, ?, ?)"


def synchronise(console: Console, client: Tradecounter, file: Path, *, follow: bool) -> None:
    """Bring the copy up to date; with `follow`, keep it so until the program ends.

    Table `product` has the important fields, prices as decimal text, and the whole product as JSON in `data`.
    """
    with closing(sqlite3.connect(file, timeout=60)) as copy:
        copy.executescript(_TABLES)
        stored = copy.execute("select value from cursor").fetchone()
        for batch in client.sync(stored[0] if stored else None, _WAIT if follow else None):
            _store(console, copy, batch)
            if batch.products or batch.removed:
                console.print(f"{len(batch.products)} products stored, {len(batch.removed)} removed")
        [count] = copy.execute("select count(*) from product").fetchone()
        console.print(f"{file}: {count} products")


def _store(console: Console, copy: sqlite3.Connection, batch: Batch) -> None:
    """Store a batch with its cursor, together or not at all."""
    with copy:
        if batch.whole:
            copy.execute("delete from product")
        copy.executemany("delete from product where sku = ?", ((sku,) for sku in batch.removed))
        products = track(batch.products, "Products", console=console) if batch.whole else batch.products
        copy.executemany(_STORE, (_row(product) for product in products))
        copy.execute("insert or replace into cursor values (1, ?)", (batch.cursor,))


def _row(product: Product) -> tuple[str | int, ...]:
    stock = product.availability
    costs = (product.single_unit_cost, product.five_plus_unit_cost, product.ten_plus_unit_cost)
    return (
        product.sku, product.name, product.manufacturer, *map(str, costs), stock.available, stock.status,
        to_json(product).decode(),
    )  # fmt: skip
