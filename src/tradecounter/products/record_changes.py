"""Records the products that an import or its roll-back added, changed or took out of the catalogue, and lays it out.

All products of an import share events, so that a file of 100,000 products makes some hundred.
"""

from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.events.record import NewEvent, record_events
from tradecounter.products.queries.changes import ChangedProducts, imported_products, rolled_back_products
from tradecounter.products.snapshot.layout import lay_out_after


async def record_imported_products(tx: Transaction, import_id: int, changed: int, now: datetime) -> None:
    """Record what an import did to products; the table of products must be locked."""
    await lay_out_after(tx, changed)
    _record(tx, await imported_products(tx, import_id), import_id, now)


async def record_rolled_back_products(tx: Transaction, import_id: int, changed: int, now: datetime) -> None:
    """Record what the roll-back of an import did to products; the table of products must be locked."""
    await lay_out_after(tx, changed)
    _record(tx, await rolled_back_products(tx), import_id, now)


def _record(tx: Transaction, changes: list[ChangedProducts], import_id: int, now: datetime) -> None:
    for found in changes:
        data = {"import_id": import_id, "skus": found.skus, "changed": found.fields, "external_ids": found.external_ids}
        record_events(tx, found.type, [NewEvent("product", None, data)], now)
