"""Everything that the storefront shows of products, read at one moment and laid out."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tradecounter.catalogue.columns.row_lookup import RowOfId
from tradecounter.catalogue.records import ReferenceRecords
from tradecounter.catalogue.snapshot.catalogue_snapshot import CatalogueSnapshot, build_snapshot, read_snapshot
from tradecounter.db.changes import Topic, Version, Versions, read_versions
from tradecounter.db.transaction import Transaction
from tradecounter.pricing.price_book import PriceBook, align_contracts, align_lists
from tradecounter.pricing.records import (
    no_contracts,
    read_contract_prices,
    read_price_lists,
    unreadable_contracts,
    unreadable_prices,
)
from tradecounter.stock.records import read_deliveries, read_stock_changes
from tradecounter.stock.stock_vector import StockVector, empty_stock


@dataclass(frozen=True, slots=True)
class StockPosition:
    """From which transaction on stock changes have to be read, on the server that numbers them."""

    server: str
    transaction: int


@dataclass(frozen=True, slots=True)
class Goods:
    """Catalogue, prices and stock, and of which version each part is; stock is read on from the position."""

    versions: Mapping[Topic, Version]
    snapshot: CatalogueSnapshot
    book: PriceBook
    stock: StockVector
    stock_position: StockPosition
    unreadable: Mapping[Topic, Sequence[str]] = field(
        default_factory=dict
    )  # rows that are shown in part, or not at all


def no_goods() -> Goods:
    """Return what an empty database holds."""
    snapshot = build_snapshot(ReferenceRecords([], [], []), [])
    book = PriceBook(align_lists({}, snapshot.row_of_id), align_contracts(no_contracts(), snapshot.row_of_id))
    return Goods({}, snapshot, book, empty_stock(0), StockPosition("", 0))


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
    topics: tuple[Topic, ...] = ("catalogue", *PARTS)
    return Goods(
        {topic: versions.of(topic) for topic in topics},
        snapshot,
        PriceBook(aligned, align_contracts(contracts, rows)),
        stock.with_levels(levels.levels, rows),
        StockPosition(versions.server, levels.position),
        {
            "catalogue": snapshot.unreadable,
            "prices": unreadable_prices(lists),
            "contracts": unreadable_contracts(contracts),
        },
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


async def _with_prices(tx: Transaction, goods: Goods) -> Goods:
    """Read all price lists; what has not changed of them is kept."""
    rows: RowOfId = goods.snapshot.row_of_id
    found = await read_price_lists(tx)
    lists = await asyncio.to_thread(align_lists, found, rows, goods.book.lists)
    unreadable = {**goods.unreadable, "prices": unreadable_prices(found)}
    return replace(goods, book=PriceBook(lists, goods.book.contracts), unreadable=unreadable)


async def _with_contracts(tx: Transaction, goods: Goods) -> Goods:
    found = await read_contract_prices(tx)
    contracts = align_contracts(found, goods.snapshot.row_of_id)
    unreadable = {**goods.unreadable, "contracts": unreadable_contracts(found)}
    return replace(goods, book=PriceBook(goods.book.lists, contracts), unreadable=unreadable)


async def _with_deliveries(tx: Transaction, goods: Goods) -> Goods:
    rows = goods.snapshot.row_of_id
    stock = await asyncio.to_thread(goods.stock.with_deliveries, await read_deliveries(tx), rows)
    return replace(goods, stock=stock)


# What is read again by itself, for the catalogue as it is.
PARTS: dict[Topic, Callable[[Transaction, Goods], Awaitable[Goods]]] = {
    "prices": _with_prices,
    "contracts": _with_contracts,
    "deliveries": _with_deliveries,
}


async def with_part(tx: Transaction, goods: Goods, topic: Topic, versions: Versions) -> Goods:
    """Return the goods with one of the PARTS as the database holds it now."""
    found = await PARTS[topic](tx, goods)
    return replace(found, versions={**goods.versions, topic: versions.of(topic)})


async def with_stock(tx: Transaction, goods: Goods, versions: Versions, *, all_of_it: bool) -> Goods:
    """Return the goods with the stock levels as the database holds them now.

    Those that changed since the position are read, or `all_of_it`; all of it also when another server numbers them.
    """
    stock, position = goods.stock, goods.stock_position
    if all_of_it or position.server != versions.server:
        stock, position = stock.without_levels(), StockPosition(versions.server, 0)
    changes = await read_stock_changes(tx, position.transaction)
    if len(changes.levels.product_ids):
        stock = stock.with_levels(changes.levels, goods.snapshot.row_of_id)
    return replace(goods, stock=stock, stock_position=StockPosition(versions.server, changes.position))
