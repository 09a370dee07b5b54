"""The process's copy of catalogue, prices, stock and customers' terms, kept fresh; hands out customers' views."""

import math
from dataclasses import dataclass, field
from datetime import date
from time import monotonic

from tradecounter.catalogue.snapshot.catalogue_snapshot import CatalogueSnapshot
from tradecounter.customers.terms import CustomerTerms, read_customer_terms
from tradecounter.db.changes import Topic, Version, Versions
from tradecounter.db.freshness import Freshness
from tradecounter.db.reader import Reader
from tradecounter.db.refresher import Behind
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import Clock
from tradecounter.kit.local_time import uk_date
from tradecounter.storefront.goods import Goods, no_goods
from tradecounter.storefront.goods_loader import GoodsLoader
from tradecounter.storefront.view import CustomerView

_MANY = 5_000  # products from which a catalogue is read by a process of its own
_CUSTOMERS: Topic = "customers"


@dataclass(frozen=True, slots=True)
class _Shelves:
    """What all customers' views are made of; replaced as a whole, so that no request sees a mixture."""

    goods: Goods
    terms: dict[int, CustomerTerms]
    terms_version: Version | None = None
    views: dict[int, tuple[date, CustomerView]] = field(default_factory=dict)  # made when first asked for


class Storefront:
    """Hands out customers' views; what it holds follows the database (`db/refresher.py`).

    With the address of the database, a catalogue of `many` products or more is read by a process of its own.
    """

    def __init__(
        self,
        clock: Clock,
        low_stock: int,
        database_url: str | None = None,
        *,
        freshness: Freshness | None = None,
        many: int = _MANY,
    ) -> None:
        self._clock = clock
        self._low_stock = low_stock
        self._freshness = freshness or Freshness()
        self._loader = GoodsLoader(database_url, many, self._freshness.most_seconds)
        self._terms_reader = Reader(_CUSTOMERS)
        self._terms_confirmed_at = -math.inf
        self._shelves = _Shelves(no_goods(), {})

    @property
    def snapshot(self) -> CatalogueSnapshot:
        """The current catalogue snapshot."""
        return self._shelves.goods.snapshot

    def view(self, customer_id: int) -> CustomerView | None:
        """Return a customer's view of this moment; None when the customer is not known here yet, or it is too old."""
        return None if monotonic() >= self._freshness.stale_at else self.last_view(customer_id)

    def last_view(self, customer_id: int) -> CustomerView | None:
        """Return a customer's view however old it is; None when the customer is not known here yet."""
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

    async def refresh(self, tx: Transaction, versions: Versions) -> Behind:
        """Load what has changed and put it on the shelves at once."""
        shown = self._shelves
        terms, terms_version = await self._current_terms(tx, versions, shown)
        goods = await self._loader.brought_up_to_date(tx, versions, shown.goods)
        self._shelves = _Shelves(goods, terms, terms_version)
        confirmed_at = min(self._terms_confirmed_at, self._loader.confirmed_at)
        return Behind(confirmed_at, self._loader.under_way)

    async def _current_terms(
        self, tx: Transaction, versions: Versions, shown: _Shelves
    ) -> tuple[dict[int, CustomerTerms], Version | None]:
        terms, wanted = shown.terms, versions.of(_CUSTOMERS)
        if shown.terms_version != wanted:
            found = await self._terms_reader.read(tx, lambda: read_customer_terms(tx), wanted)
            if found is None:
                return terms, shown.terms_version
            terms = {each.customer_id: each for each in found}
        self._terms_confirmed_at = versions.read_at
        return terms, wanted
