"""Everything that the storefront shows of products, read at one moment and laid out."""

import asyncio
from dataclasses import dataclass

from tradecounter.catalogue.packed import RowOfId
from tradecounter.catalogue.records import ReferenceRecords
from tradecounter.catalogue.snapshot import CatalogueSnapshot, build_snapshot, read_snapshot
from tradecounter.db.changes import Versions, read_versions
from tradecounter.db.transaction import Transaction
from tradecounter.pricing.price_book import Contracts, PriceBook, PriceLists, align_contracts, align_lists
from tradecounter.pricing.records import no_contracts, read_contract_prices, read_price_list, read_price_lists
from tradecounter.stock.records import read_deliveries, read_stock_changes
from tradecounter.stock.stock_vector import StockVector, empty_stock


@dataclass(frozen=True, slots=True)
class Goods:
    """Catalogue, prices and stock of the moment of `versions`; stock changes are to be read on from the position."""

    versions: Versions
    snapshot: CatalogueSnapshot
    book: PriceBook
    stock: StockVector
    stock_position: int


def no_goods() -> Goods:
    """Return what an empty database holds."""
    snapshot = build_snapshot(ReferenceRecords([], [], []), [])
    book = PriceBook(align_lists({}, snapshot.row_of_id), align_contracts(no_contracts(), snapshot.row_of_id))
    return Goods({}, snapshot, book, empty_stock(0), 0)


async def read_goods(tx: Transaction) -> Goods:
    """Read everything; nothing of it keeps the event loop for more than some milliseconds."""
    versions = await read_versions(tx)
    snapshot = await read_snapshot(tx)
    rows = snapshot.row_of_id
    book = PriceBook(await read_lists(tx, rows), await read_contracts(tx, rows))
    stock = await with_deliveries(tx, empty_stock(len(rows)), rows)
    changes = await read_stock_changes(tx, 0)
    return Goods(versions, snapshot, book, stock.with_levels(changes.levels, rows), changes.position)


async def read_lists(tx: Transaction, rows: RowOfId, before: PriceLists | None = None) -> PriceLists:
    """Read all price lists; of what is held already, of the same rows, is kept what has not changed."""
    lists = {key: await read_price_list(tx, key) for key in await read_price_lists(tx)}
    return await asyncio.to_thread(align_lists, lists, rows, before)


async def read_contracts(tx: Transaction, rows: RowOfId) -> Contracts:
    """Read all contract prices."""
    return align_contracts(await read_contract_prices(tx), rows)


async def with_deliveries(tx: Transaction, stock: StockVector, rows: RowOfId) -> StockVector:
    """Read all deliveries and return the vector with them."""
    return await asyncio.to_thread(stock.with_deliveries, await read_deliveries(tx), rows)
