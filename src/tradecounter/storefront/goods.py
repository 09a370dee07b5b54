"""Everything that the storefront shows of products, read at one moment and laid out."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from tradecounter.catalogue.packed import RowOfId
from tradecounter.catalogue.records import ReferenceRecords
from tradecounter.catalogue.snapshot import CatalogueSnapshot, build_snapshot, read_snapshot
from tradecounter.db.changes import Versions, read_versions
from tradecounter.db.transaction import Transaction
from tradecounter.pricing.price_book import Contracts, PriceBook, PriceLists, align_contracts, align_lists
from tradecounter.pricing.records import no_contracts, read_contract_prices, read_price_lists
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
    # On one connection they take turns: it reads the prices while products are laid out.
    snapshot, lists, contracts, deliveries, levels = await _together(
        read_snapshot(tx),
        read_price_lists(tx),
        read_contract_prices(tx),
        read_deliveries(tx),
        read_stock_changes(tx, 0),
    )
    rows = snapshot.row_of_id
    aligned = await asyncio.to_thread(align_lists, lists, rows)
    stock = await asyncio.to_thread(empty_stock(len(rows)).with_deliveries, deliveries, rows)
    return Goods(
        versions,
        snapshot,
        PriceBook(aligned, align_contracts(contracts, rows)),
        stock.with_levels(levels.levels, rows),
        levels.position,
    )


async def _together(*works: Coroutine[Any, Any, Any]) -> list[Any]:
    """Do several things of one transaction at a time; when one fails, the others end before this does."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def read_lists(tx: Transaction, rows: RowOfId, before: PriceLists) -> PriceLists:
    """Read all price lists; of those held before, of the same rows, is kept what has not changed."""
    return await asyncio.to_thread(align_lists, await read_price_lists(tx), rows, before)


async def read_contracts(tx: Transaction, rows: RowOfId) -> Contracts:
    """Read all contract prices."""
    return align_contracts(await read_contract_prices(tx), rows)


async def with_deliveries(tx: Transaction, stock: StockVector, rows: RowOfId) -> StockVector:
    """Read all deliveries and return the vector with them."""
    return await asyncio.to_thread(stock.with_deliveries, await read_deliveries(tx), rows)
