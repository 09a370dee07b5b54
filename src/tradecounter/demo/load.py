"""Loads the demo data into an empty database, through the same imports and use cases as real data."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tradecounter.bulk.importing import ImportOptions
from tradecounter.bulk.rows import BadRow, Row
from tradecounter.customers.queries.accounts import list_accounts
from tradecounter.customers.settings import Account
from tradecounter.db.installation import mark_as_demo
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.demo.files import contract_rows, customer_notes, data_file, incoming_rows, rows_of
from tradecounter.demo.other_catalogue import made_up_prices, made_up_stock, reference_rows
from tradecounter.demo.people import demo_password, set_demo_passwords
from tradecounter.demo.place_orders import place_demo_orders
from tradecounter.events.sequencer import number_all
from tradecounter.identity.installation_secret import derived_key
from tradecounter.identity.queries.api_keys import add_key, list_keys
from tradecounter.imports.run import import_and_commit
from tradecounter.kit.errors import OperatorError
from tradecounter.kit.local_time import uk_date
from tradecounter.orders.queries.all_orders import OrderFilter, list_all_orders
from tradecounter.products.queries.records import count_products
from tradecounter.sandbox.steps import reseller_from
from tradecounter.settings import Settings


@dataclass(frozen=True, slots=True)
class DemoCustomer:
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
        await _load_other_catalogue(database, catalogue)
    await _load_files(database, "shipping-regions.csv", "shipping-methods.jsonl", "customers.jsonl")
    if catalogue is None:
        async with reading(database) as tx:
            ids = {account.email_address: account.id for account in await list_accounts(tx)}
        await _load(database, "contract-prices", contract_rows(uk_date(now), ids))
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
    return DemoCustomer(account.id, account.company, added.key, note, disabled, account.email_address, password)


async def _load_own_catalogue(database: Database, now: datetime) -> None:
    await _load_files(database, "categories.jsonl", "manufacturers.jsonl", "attributes.jsonl")
    await _load_files(database, "products.jsonl", "price-list.csv", "stock.csv")
    await _load(database, "incoming", incoming_rows(uk_date(now)))


async def _load_other_catalogue(database: Database, products_file: str) -> None:
    rows = list(rows_of("products", products_file))
    products = [row for row in rows if isinstance(row, Row)]
    for kind, needed in reference_rows(products_file, products):
        await _load(database, kind, needed)
    await _load(database, "products", rows)
    await _load(database, "price-list", made_up_prices(products))
    await _load(database, "stock", made_up_stock(products))


async def _load_files(database: Database, *names: str) -> None:
    for name in names:
        kind = Path(name).stem
        await _load(database, kind, rows_of(kind, data_file(name)))


async def _load(database: Database, kind: str, rows: Iterable[Row[Any] | BadRow[Any]]) -> None:
    # No customer has the demo's price lists before they are loaded.
    report = await import_and_commit(database, kind, iter(rows), ImportOptions(force=True))
    if report.errors:
        first = report.errors[0]
        raise DemoDataError(f"{kind}, line {first.line}: {first.message}")
