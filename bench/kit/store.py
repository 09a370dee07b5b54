"""A database with a catalogue of some size and its two thousand customers, made through the command line."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from bench.kit import customers
from bench.kit.catalogue import Catalogue, Product, multiplied, write_prices, write_products, write_stock
from bench.kit.product import environment, tradecounter


@dataclass(frozen=True, slots=True)
class Store:
    """One such database; `first_imports` are the seconds that filling it took, by kind."""

    folder: Path
    url: str
    products: Sequence[Product]
    first_imports: dict[str, float] = field(default_factory=dict)
    customer_ids: list[int] = field(default_factory=list)

    @property
    def env(self) -> dict[str, str]:
        """The product's settings for it."""
        return environment(self.url, self.folder)

    def connect(self) -> psycopg.Connection[Any]:
        """Return a connection of our own, each of whose statements commits."""
        return psycopg.connect(self.url, autocommit=True)

    def fill(self, kind: str, path: Path) -> None:
        """Import a file and note how long it took."""
        start = perf_counter()
        tradecounter(self.env, "import", kind, path, "--force")
        self.first_imports[kind] = perf_counter() - start


def make_store(folder: Path, url: str, catalogue: Catalogue, count: int) -> Store:
    """Fill an empty database."""
    folder.mkdir(parents=True)
    store = Store(folder, url, list(multiplied(catalogue.products, count)))
    tradecounter(store.env, "db", "upgrade")
    for kind, path in catalogue.reference_files:
        store.fill(kind, path)
    store.fill("products", write_products(folder / "products.jsonl", store.products))
    store.fill("price-list", write_prices(folder / "prices.csv", store.products))
    store.fill("stock", write_stock(folder / "stock.csv", store.products))
    store.fill("shipping-methods", customers.write_shipping_methods(folder / "shipping.jsonl"))
    with store.connect() as connection:
        customers.add_price_lists(connection)
        store.fill("customers", customers.write_customers(folder / "customers.jsonl"))
        store.customer_ids.extend(customers.add_keys_and_contracts(connection))
        connection.execute(SQL("vacuum analyze {}").format(SQL(", ").join(_filled(connection))))
        connection.execute("checkpoint")  # as on a server that has run for a while, there is WAL to write again
    return store


def _filled(connection: psycopg.Connection[Any]) -> list[Identifier]:
    """Return the tables with rows.

    When PostgreSQL knows that a table is empty, it plans to read it whole, and keeps that plan for the first orders.
    """
    rows = connection.execute(
        "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace"
    )
    tables = [Identifier(name) for (name,) in rows]
    return [
        table
        for table in tables
        if connection.execute(SQL("select exists (select from {})").format(table)).fetchall() == [(True,)]
    ]
