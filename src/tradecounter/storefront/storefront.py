"""The process's copy of catalogue, prices, stock and customers' terms, kept fresh; hands out customers' views."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import date

from tradecounter.catalogue.records import count_products
from tradecounter.catalogue.snapshot import CatalogueSnapshot
from tradecounter.customers.terms import CustomerTerms, read_customer_terms
from tradecounter.db.changes import Topic, Versions
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import Clock
from tradecounter.kit.local_time import uk_date
from tradecounter.pricing.price_book import PriceBook
from tradecounter.stock.records import read_stock_changes
from tradecounter.storefront.goods import Goods, no_goods, read_contracts, read_goods, read_lists, with_deliveries
from tradecounter.storefront.load_elsewhere import load_elsewhere
from tradecounter.storefront.view import CustomerView

_MANY = 5_000  # products from which a catalogue is read by a process of its own
_STANDING_BACK = 10  # enough to let answers go first, and not so much that it never ends on a busy machine
_GOODS: tuple[Topic, ...] = ("catalogue", "prices", "contracts", "deliveries")


@dataclass(frozen=True, slots=True)
class _Shelves:
    """What all customers' views are made of; replaced as a whole, so that no request sees a mixture."""

    goods: Goods
    terms: dict[int, CustomerTerms]
    views: dict[int, tuple[date, CustomerView]] = field(default_factory=dict)  # made when first asked for


class Storefront:
    """Hands out customers' views; what it holds follows the database (`db/refresher.py`).

    With the address of the database, a catalogue of `many` products or more is read by a process of its own.
    """

    def __init__(self, clock: Clock, low_stock: int, database_url: str | None = None, *, many: int = _MANY) -> None:
        self._clock = clock
        self._low_stock = low_stock
        self._database_url = database_url
        self._many = many
        self._seen: dict[Topic, int] = {}
        self._loading: asyncio.Task[Goods] | None = None
        self._shelves = _Shelves(no_goods(), {})

    @property
    def snapshot(self) -> CatalogueSnapshot:
        """The current catalogue snapshot."""
        return self._shelves.goods.snapshot

    def view(self, customer_id: int) -> CustomerView | None:
        """Return a customer's view of this moment, or None when the customer is not known here yet."""
        terms, goods = self._shelves.terms.get(customer_id), self._shelves.goods
        if terms is None:
            return None
        today = uk_date(self._clock.now())
        day, view = self._shelves.views.get(customer_id, (None, None))
        if view is None or day != today:
            vector = goods.book.vector(terms, today)
            view = CustomerView(goods.snapshot, vector, goods.stock, terms.trade_account, self._low_stock)
            self._shelves.views[customer_id] = today, view
        return view

    async def refresh(self, tx: Transaction, versions: Versions) -> asyncio.Task[Goods] | None:
        """Load what has changed and put it on the shelves at once.

        Returns what goes on meanwhile, when another process reads the catalogue: the next call takes it over.
        """
        goods, terms = self._shelves.goods, self._shelves.terms
        seen = dict(self._seen)
        if self._loading is not None and self._loading.done():
            loading, self._loading = self._loading, None
            goods = await self._taken_over(loading.result())
            seen.update({topic: goods.versions.get(topic, 0) for topic in _GOODS})
        if versions.get("customers", 0) != seen.get("customers"):
            terms = {t.customer_id: t for t in await read_customer_terms(tx)}
            seen["customers"] = versions.get("customers", 0)
        changed = {topic for topic in _GOODS if versions.get(topic, 0) != seen.get(topic)}
        if "catalogue" in changed and self._loading is None:
            if self._database_url is not None and await count_products(tx) >= self._many:
                # Nothing is served yet when it is the first: then it need not stand back.
                niceness = _STANDING_BACK if self._seen else 0
                self._loading = asyncio.create_task(load_elsewhere(self._database_url, niceness=niceness))
            else:
                goods = await read_goods(tx)
                seen.update({topic: versions.get(topic, 0) for topic in _GOODS})
        elif self._loading is None:
            goods = await _followed(goods, tx, changed)
            seen.update({topic: versions.get(topic, 0) for topic in changed})
        self._shelves = _Shelves(await _with_stock(goods, tx), terms)
        self._seen = seen
        return self._loading

    async def _taken_over(self, goods: Goods) -> Goods:
        """Work out the prices of the profiles that were asked for before, so that no request has to."""
        profiles = self._shelves.goods.book.lists.profiles
        await asyncio.to_thread(goods.book.lists.work_out, profiles)
        return goods


async def _followed(goods: Goods, tx: Transaction, changed: set[Topic]) -> Goods:
    """Return the goods with new prices or deliveries of the same catalogue."""
    book, stock, rows = goods.book, goods.stock, goods.snapshot.row_of_id
    if "prices" in changed:
        book = PriceBook(await read_lists(tx, rows, book.lists), book.contracts)
    if "contracts" in changed:
        book = PriceBook(book.lists, await read_contracts(tx, rows))
    if "deliveries" in changed:
        stock = await with_deliveries(tx, stock, rows)
    return replace(goods, book=book, stock=stock)


async def _with_stock(goods: Goods, tx: Transaction) -> Goods:
    changes = await read_stock_changes(tx, goods.stock_position)
    stock = goods.stock
    if len(changes.levels.product_ids):
        stock = stock.with_levels(changes.levels, goods.snapshot.row_of_id)
    return replace(goods, stock=stock, stock_position=changes.position)
