"""Reads the demo data's files, and loads them through the same imports and use cases as real data."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from tradecounter.bulk.files import open_import
from tradecounter.bulk.import_options import ImportOptions
from tradecounter.bulk.rows import BadRow, Row
from tradecounter.customers.queries.accounts import list_accounts
from tradecounter.customers.settings import Account
from tradecounter.db.installation import mark_as_demo
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.demo.people import demo_password, set_demo_passwords
from tradecounter.demo.place_orders import place_demo_orders
from tradecounter.events.sequencer import number_all
from tradecounter.identity.installation_secret import derived_key
from tradecounter.identity.queries.api_keys import add_key, list_keys
from tradecounter.imports.kinds import IMPORT_KINDS
from tradecounter.imports.run import import_and_commit
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import OperatorError
from tradecounter.kit.money import from_pence, percentage
from tradecounter.orders.queries.all_orders import OrderFilter, list_all_orders
from tradecounter.prices.importing import ContractPriceRow, PriceRow
from tradecounter.products.import_rows import CategoryRow, ManufacturerRow, ProductRow
from tradecounter.products.queries.records import count_products
from tradecounter.sandbox.steps import reseller_from
from tradecounter.settings import Settings
from tradecounter.stock.importing import StockRow

_DAYS = re.compile(r"^[+-]\d+d$")


class DemoContractPrice(msgspec.Struct):
    """A contract price with its customer's e-mail address; dates are days from today."""

    customer_email: str
    sku: str
    single_unit_cost: str
    five_plus_unit_cost: str | None
    ten_plus_unit_cost: str | None
    valid_from: str | None
    valid_until: str | None


def data_file(name: str) -> str:
    """Return the path of a demo data file."""
    return str(files("tradecounter.demo") / "data" / name)


def rows_of(kind: str, path: str) -> Iterator[Row[Any] | BadRow[Any]]:
    """Yield a file's rows as an import of `kind` would."""
    with open_import(path) as file:
        yield from file.rows(IMPORT_KINDS[kind].shape)


def incoming_rows(today: date) -> Iterator[Row[Any] | BadRow[Any]]:
    """Yield the expected deliveries with their dates."""
    for row in rows_of("incoming", data_file("incoming.csv")):
        if isinstance(row, Row):
            row.values.expected_on = _day(row.values.expected_on, today)
        yield row


def contract_rows(today: date, customer_ids: dict[str, int]) -> Iterator[Row[Any] | BadRow[Any]]:
    """Yield the contract prices with their dates; `customer_ids` maps e-mail addresses to ids."""
    with open_import(data_file("contract-prices.csv")) as file:
        for row in file.rows(DemoContractPrice):
            if isinstance(row, BadRow):
                yield row
                continue
            price = msgspec.to_builtins(row.values)
            price["customer_id"] = customer_ids[price.pop("customer_email")]
            for name in ("valid_from", "valid_until"):
                price[name] = _day(price[name], today) if price[name] else None
            yield Row(row.line, msgspec.convert(price, ContractPriceRow, strict=False))


def customer_notes() -> dict[str, str]:
    """Return the notes about demo customers, by e-mail address."""
    return msgspec.json.decode(Path(data_file("customers-notes.json")).read_bytes(), type=dict[str, str])


def _day(text: str, today: date) -> str:
    return str(today + timedelta(days=int(text[:-1]))) if _DAYS.match(text) else text


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
                    price_list=price_list,
                    sku=row.values.sku,
                    single_unit_cost=cost,
                    five_plus_unit_cost=percentage(cost, Decimal(97)),
                    ten_plus_unit_cost=percentage(cost, Decimal(94)),
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


class DemoCustomer(Struct, frozen=True):
    """A demo customer, its API key, a note for readers, whether the key is disabled, and its owner's sign-in."""

    id: int
    name: str
    api_key: str
    note: str
    disabled: bool
    email: str
    password: str  # of the account's owner


class DemoDataError(OperatorError):
    """The demo data cannot be loaded; the message names the file and the row."""


async def load_demo(database: Database, settings: Settings, now: datetime, catalogue: str | None = None) -> None:
    """Fill an empty database, or complete an interrupted load. Raises DemoDataError.

    Does not change a database with orders or other customers, or an external database with products but no customers,
    which may be a real installation in preparation.
    """
    async with reading(database) as tx:
        emails = {account.email_address for account in await list_accounts(tx)}
        if not emails <= customer_notes().keys() or await list_all_orders(tx, OrderFilter(), 1):
            return
        if not settings.embedded and not emails and await count_products(tx):
            return
    async with transaction(database) as tx:
        await mark_as_demo(tx)
    if catalogue is None:
        await _load_own_catalogue(database, now)
    else:
        await _load_other_catalogue(database, catalogue, now)
    await _load_files(database, now, "shipping-regions.csv", "shipping-methods.jsonl", "customers.jsonl")
    if catalogue is None:
        async with reading(database) as tx:
            ids = {account.email_address: account.id for account in await list_accounts(tx)}
        await _load(database, "contract-prices", contract_rows(uk_date(now), ids), now)
    await place_demo_orders(database, reseller_from(settings), now)
    await number_all(database)


async def demo_customers(database: Database, secret: str, now: datetime) -> list[DemoCustomer]:
    """Return the demo customers with their keys, which are derived from the secret and therefore constant."""
    notes = customer_notes()
    await set_demo_passwords(database, secret, notes)
    async with transaction(database) as tx:
        return [
            await _with_key(tx, account, secret, notes[account.email_address], now)
            for account in await list_accounts(tx)
            if account.email_address in notes
        ]


async def _with_key(tx: Transaction, account: Account, secret: str, note: str, now: datetime) -> DemoCustomer:
    key = derived_key(secret, f"demo key of {account.email_address}")
    added = await add_key(tx, account.id, "demo key", now, key=key)
    disabled = any(known.id == added.id and known.disabled_at for known in await list_keys(tx, account.id))
    password = demo_password(secret, account.email_address)
    return DemoCustomer(
        id=account.id,
        name=account.company,
        api_key=added.key,
        note=note,
        disabled=disabled,
        email=account.email_address,
        password=password,
    )


async def _load_own_catalogue(database: Database, now: datetime) -> None:
    await _load_files(database, now, "categories.jsonl", "manufacturers.jsonl", "attributes.jsonl")
    await _load_files(database, now, "products.jsonl", "price-list.csv", "stock.csv")
    await _load(database, "incoming", incoming_rows(uk_date(now)), now)


async def _load_other_catalogue(database: Database, products_file: str, now: datetime) -> None:
    rows = list(rows_of("products", products_file))
    products = [row for row in rows if isinstance(row, Row)]
    for kind, needed in reference_rows(products_file, products):
        await _load(database, kind, needed, now)
    await _load(database, "products", rows, now)
    await _load(database, "price-list", made_up_prices(products), now)
    await _load(database, "stock", made_up_stock(products), now)


async def _load_files(database: Database, now: datetime, *names: str) -> None:
    for name in names:
        kind = Path(name).stem
        await _load(database, kind, rows_of(kind, data_file(name)), now)


async def _load(database: Database, kind: str, rows: Iterable[Row[Any] | BadRow[Any]], now: datetime) -> None:
    # No customer has the demo's price lists before they are loaded.
    report = await import_and_commit(database, kind, iter(rows), ImportOptions(force=True), now=now)
    if report.errors:
        first = report.errors[0]
        raise DemoDataError(f"{kind}, line {first.line}: {first.message}")
