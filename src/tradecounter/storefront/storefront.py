"""The process's copy of catalogue, prices, stock and customers' terms, kept fresh; hands out customers' views."""

import asyncio
from dataclasses import dataclass, field
from datetime import date

from tradecounter.catalogue.records import CatalogueRecords, read_catalogue
from tradecounter.catalogue.snapshot import CatalogueSnapshot, build_snapshot
from tradecounter.customers.terms import CustomerTerms, read_customer_terms
from tradecounter.db.changes import Topic, Versions
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import Clock
from tradecounter.kit.local_time import uk_date
from tradecounter.pricing.price_book import PriceBook, build_price_book
from tradecounter.pricing.records import PriceRecords, read_prices
from tradecounter.stock.records import read_deliveries, read_stock_changes
from tradecounter.stock.stock_vector import StockVector, empty_stock
from tradecounter.storefront.view import CustomerView


@dataclass(frozen=True, slots=True)
class _Shelves:
    """What all customers' views are made of; replaced as a whole, so that no request sees a mixture."""

    snapshot: CatalogueSnapshot
    book: PriceBook
    stock: StockVector
    terms: dict[int, CustomerTerms]
    views: dict[int, tuple[date, CustomerView]] = field(default_factory=dict)  # made when first asked for


class Storefront:
    """Hands out customers' views; what it holds follows the database (`db/refresher.py`)."""

    def __init__(self, clock: Clock, low_stock: int) -> None:
        snapshot = build_snapshot(CatalogueRecords([], [], [], []))
        prices = PriceRecords({}, {})
        self._clock = clock
        self._low_stock = low_stock
        self._prices = prices
        self._stock_position = 0
        self._seen: dict[Topic, int] = {}
        self._shelves = _Shelves(snapshot, build_price_book(prices, {}), empty_stock(0), {})

    @property
    def snapshot(self) -> CatalogueSnapshot:
        """The current catalogue snapshot."""
        return self._shelves.snapshot

    def view(self, customer_id: int) -> CustomerView | None:
        """Return a customer's view of this moment, or None when the customer is not known here yet."""
        shelves = self._shelves
        terms = shelves.terms.get(customer_id)
        if terms is None:
            return None
        today = uk_date(self._clock.now())
        day, view = shelves.views.get(customer_id, (None, None))
        if view is None or day != today:
            vector = shelves.book.vector(terms, today)
            view = CustomerView(shelves.snapshot, vector, shelves.stock, terms.trade_account, self._low_stock)
            shelves.views[customer_id] = today, view
        return view

    async def refresh(self, tx: Transaction, versions: Versions) -> None:
        """Load what has changed and put it on the shelves at once."""
        changed = {topic for topic in _TOPICS if versions.get(topic, 0) != self._seen.get(topic)}
        now = self._shelves
        snapshot, terms, stock = now.snapshot, now.terms, now.stock
        if "customers" in changed:
            terms = {t.customer_id: t for t in await read_customer_terms(tx)}
        if "prices" in changed:
            self._prices = await read_prices(tx)
        if "catalogue" in changed:
            snapshot = await asyncio.to_thread(build_snapshot, await read_catalogue(tx))
            stock, self._stock_position = empty_stock(len(snapshot.products)), 0
        book = now.book
        if changed & {"catalogue", "prices"}:
            book = await asyncio.to_thread(build_price_book, self._prices, snapshot.row_of_id)
        if changed & {"catalogue", "deliveries"}:
            stock = stock.with_deliveries(await read_deliveries(tx), snapshot.row_of_id)
        levels = await read_stock_changes(tx, self._stock_position)
        if levels.levels:
            stock = stock.with_levels(levels.levels, snapshot.row_of_id)
        self._shelves = _Shelves(snapshot, book, stock, terms)
        self._stock_position = levels.position
        self._seen = {topic: versions.get(topic, 0) for topic in _TOPICS}


_TOPICS: tuple[Topic, ...] = ("catalogue", "prices", "customers", "deliveries")
