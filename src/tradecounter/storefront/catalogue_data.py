"""Catalogue data: products, prices, stock and customers' terms, laid out in memory; reads them, also from a replica."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, Self

import psycopg
import structlog
from msgspec import Struct, field
from msgspec.structs import replace

from tradecounter.customers.queries.accounts import CustomerTerms, read_customer_terms
from tradecounter.db.changes import Topic, Version, Versions, read_versions
from tradecounter.db.pool import Database
from tradecounter.db.replicas import Position, ReplicaBehindError, ReplicaError, read_position, require_replayed
from tradecounter.db.seen import Seen
from tradecounter.db.transaction import Transaction, reading
from tradecounter.prices.price_book import PriceBook, align_contracts, align_lists
from tradecounter.prices.queries.prices import (
    no_contracts,
    read_contract_prices,
    read_price_lists,
    unreadable_contracts,
    unreadable_prices,
)
from tradecounter.products.queries.records import ReferenceRecords
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot, build_snapshot
from tradecounter.products.snapshot.layout import read_laid_out
from tradecounter.stock.queries.stock import read_deliveries, read_stock_changes
from tradecounter.stock.stock_vector import StockVector, empty_stock
from tradecounter.storefront.changes.queries import read_changed_products

log = structlog.get_logger()
_FEW = 500  # changed products whose prices are read alone, in any catalogue; in a large one, a tenth of its products


class StockPosition(Struct, frozen=True):
    """The transactions whose stock levels were read, and the server that numbered them."""

    server: str
    seen: Seen

    @classmethod
    def at_the_start(cls, server: str) -> Self:
        """Return the position before any level was read."""
        return cls(server, Seen(0, 0))


class CatalogueData(Struct, frozen=True):
    """Catalogue, prices, stock and customers' terms by id, each at its version in `versions`."""

    versions: Mapping[Topic, Version]
    snapshot: CatalogueSnapshot
    book: PriceBook
    stock: StockVector
    stock_position: StockPosition
    terms: Mapping[int, CustomerTerms] = field(default_factory=dict)
    unreadable: Mapping[Topic, Sequence[str]] = field(default_factory=dict)  # messages about faulty rows


def no_catalogue_data() -> CatalogueData:
    """Return the data of an empty database."""
    snapshot = build_snapshot(ReferenceRecords([], [], []), [])
    book = PriceBook(align_lists({}, snapshot.row_of_id), align_contracts(no_contracts(), snapshot.row_of_id))
    return CatalogueData(
        versions={}, snapshot=snapshot, book=book, stock=empty_stock(0), stock_position=StockPosition.at_the_start("")
    )


async def read_catalogue_data(tx: Transaction, primary: str | None = None) -> CatalogueData:
    """Read everything except the terms; no step blocks the event loop for more than a few milliseconds.

    `primary` identifies the server whose replica is read: the data has its versions and transactions.
    """
    versions = await read_versions(tx)
    if primary is not None:
        versions = replace(versions, server=primary)
    # The reads share a connection, which reads prices while a thread lays out the snapshot.
    snapshot, lists, contracts, deliveries, levels = await _concurrently(
        read_laid_out(tx),
        read_price_lists(tx),
        read_contract_prices(tx),
        read_deliveries(tx),
        read_stock_changes(tx, 0),
    )
    rows = snapshot.row_of_id
    aligned = await asyncio.to_thread(align_lists, lists, rows)
    stock = await asyncio.to_thread(empty_stock(len(rows)).with_deliveries, deliveries, rows)
    topics: tuple[Topic, ...] = ("catalogue", "prices", "contracts", "deliveries")
    return CatalogueData(
        versions={topic: versions.of(topic) for topic in topics},
        snapshot=snapshot,
        book=PriceBook(aligned, align_contracts(contracts, rows)),
        stock=stock.with_levels(levels.levels, rows),
        stock_position=StockPosition(versions.server, levels.seen),
        unreadable={
            "catalogue": snapshot.unreadable,
            "prices": unreadable_prices(lists),
            "contracts": unreadable_contracts(contracts),
        },
    )


async def _concurrently(*reads: Coroutine[Any, Any, Any]) -> list[Any]:
    """Run several reads of one transaction. If one fails, raise its error after all reads have ended."""
    tasks = [asyncio.create_task(read) for read in reads]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _with_prices(tx: Transaction, data: CatalogueData, since: int | None) -> CatalogueData:
    lists, row_of_id = data.book.lists, data.snapshot.row_of_id
    changed = None
    # While prices are unreadable, all are read: reading some would lose the log's message about the others.
    if since is not None and not data.unreadable.get("prices"):
        changed = await read_changed_products(tx, "prices", since, most=max(_FEW, len(row_of_id) // 10))
    rows = await read_price_lists(tx, changed)
    if changed is None:
        lists = await asyncio.to_thread(align_lists, rows, row_of_id, lists)
    else:
        lists = await asyncio.to_thread(lists.with_products, changed, rows, row_of_id)
    unreadable = {**data.unreadable, "prices": unreadable_prices(rows)}
    return replace(data, book=PriceBook(lists, data.book.contracts), unreadable=unreadable)


async def _with_contracts(tx: Transaction, data: CatalogueData, _since: int | None) -> CatalogueData:
    rows = await read_contract_prices(tx)
    contracts = await asyncio.to_thread(align_contracts, rows, data.snapshot.row_of_id)
    unreadable = {**data.unreadable, "contracts": unreadable_contracts(rows)}
    return replace(data, book=PriceBook(data.book.lists, contracts), unreadable=unreadable)


async def _with_deliveries(tx: Transaction, data: CatalogueData, _since: int | None) -> CatalogueData:
    rows = data.snapshot.row_of_id
    stock = await asyncio.to_thread(data.stock.with_deliveries, await read_deliveries(tx), rows)
    return replace(data, stock=stock)


async def _with_terms(tx: Transaction, data: CatalogueData, _since: int | None) -> CatalogueData:
    return replace(data, terms={terms.customer_id: terms for terms in await read_customer_terms(tx)})


# The parts that have a version and can be read without the catalogue; the number is the version that the data have,
# None to read everything.
PARTS: dict[Topic, Callable[[Transaction, CatalogueData, int | None], Awaitable[CatalogueData]]] = {
    "prices": _with_prices,
    "contracts": _with_contracts,
    "deliveries": _with_deliveries,
    "customers": _with_terms,
}


async def with_part(
    tx: Transaction, data: CatalogueData, topic: Topic, versions: Versions, *, from_the_start: bool
) -> CatalogueData:
    """Read one of the PARTS and return the data with the new part.

    Reads the whole part if `from_the_start`, or if the data's version cannot be compared with the database's.
    """
    before, now = data.versions.get(topic, Version("", 0)), versions.of(topic)
    comparable = before.server == now.server and before.number <= now.number
    since = before.number if comparable and not from_the_start else None
    return replace(await PARTS[topic](tx, data, since), versions={**data.versions, topic: now})


async def with_stock(
    tx: Transaction, data: CatalogueData, versions: Versions, *, from_the_start: bool
) -> CatalogueData:
    """Read the stock levels that changed since the data's position and return the data with them.

    Reads all levels if `from_the_start`, or if another server now numbers the transactions.
    """
    stock, position = data.stock, data.stock_position
    if from_the_start or position.server != versions.server:
        stock, position = stock.without_levels(), StockPosition.at_the_start(versions.server)
    changes = await read_stock_changes(tx, position.seen.oldest)
    if len(changes.levels.product_ids):
        stock = stock.with_levels(changes.levels, data.snapshot.row_of_id)
    return replace(data, stock=stock, stock_position=StockPosition(versions.server, changes.seen))


UNUSABLE = (ReplicaError, psycopg.Error)

_MOST_BEHIND_SECONDS = 1.0  # replicas are usually milliseconds behind; customers wait for new prices meanwhile
_LOOK_EVERY_SECONDS = 0.05
_CONNECT_SECONDS = 3


async def read_from_replica(
    url: str, primary: Database, read: Callable[[Transaction, str], Awaitable[CatalogueData]]
) -> CatalogueData:
    """Return what `read` returns for a transaction of the replica and the primary's name.

    Waits a little for a replica that is behind. Raises one of UNUSABLE.
    """
    async with reading(primary) as tx:
        position = await read_position(tx)
    await try_to_connect(url)
    async with Database(url, connections=1) as replica:
        until = time.monotonic() + _MOST_BEHIND_SECONDS
        while True:
            try:
                return await _read(replica, position, read)
            except ReplicaBehindError:
                if time.monotonic() >= until:
                    raise
            await asyncio.sleep(_LOOK_EVERY_SECONDS)


async def try_to_connect(url: str) -> None:
    """Raise the reason why the replica cannot be reached; a pool would try again for seconds and not name it."""
    try:
        connection = await psycopg.AsyncConnection.connect(url, connect_timeout=_CONNECT_SECONDS)
    except psycopg.ProgrammingError:  # psycopg's message would show the password
        raise ReplicaError("TRADECOUNTER_REPLICA_URL: is not a valid PostgreSQL URL") from None
    await connection.close()


async def _read(
    replica: Database, position: Position, read: Callable[[Transaction, str], Awaitable[CatalogueData]]
) -> CatalogueData:
    async with reading(replica) as tx:
        await require_replayed(tx, position, "catalogue")
        return await read(tx, position.versions.server)


class ReplicaUse:
    """The catalogues that this process had laid out from the replica, and those for which it was not usable."""

    def __init__(self) -> None:
        self.used = 0
        self.unusable = 0
        self._is_unusable = False

    def note(self, reason: str | None) -> None:
        """Note that the replica was read, or the reason why it was not."""
        if reason is None:
            self.used += 1
            if self._is_unusable:
                log.warning("the replica can be used again")
        else:
            self.unusable += 1
            if not self._is_unusable:
                log.warning("the replica cannot be used: the catalogue is read from the primary", reason=reason)
        self._is_unusable = reason is not None
