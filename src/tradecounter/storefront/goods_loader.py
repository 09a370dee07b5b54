"""Bringing goods up to date part by part, so that prices and stock never wait for the catalogue."""

import asyncio
import math
from dataclasses import dataclass

import structlog

from tradecounter.catalogue.queries.records import count_products
from tradecounter.db.changes import Topic, Versions
from tradecounter.db.reader import Reader
from tradecounter.db.transaction import Transaction
from tradecounter.storefront.goods import PARTS, Goods, read_goods, with_part, with_stock
from tradecounter.storefront.load_elsewhere import load_elsewhere

log = structlog.get_logger()

_CATALOGUE: Topic = "catalogue"
_STOCK = "stock"
_STANDING_BACK = 10  # enough to let answers go first
_LONGEST_SECONDS = 600.0  # many times what the largest catalogues take


@dataclass(frozen=True, slots=True)
class _Loading:
    """A catalogue that another process reads, not as it was before `began`."""

    task: asyncio.Task[Goods]
    began: float


class GoodsLoader:
    """Brings goods up to date with the database.

    Every part is read by itself: one that cannot be read stays as it is, and is tried again. With the address of the
    database, a catalogue of `many` products or more is read by another process meanwhile, which stands back for
    answers: for half of the seconds after which the shown one is too old, then it is started again and does not.
    """

    def __init__(self, database_url: str | None, many: int, stale_after: float) -> None:
        self._database_url = database_url
        self._many = many
        self._patience = min(stale_after / 2, _LONGEST_SECONDS)
        self._readers = {part: Reader(part) for part in (_CATALOGUE, *PARTS, _STOCK)}
        self._confirmed = dict.fromkeys(self._readers, -math.inf)
        self._loading: _Loading | None = None
        self._stock_session: int | None = None

    @property
    def confirmed_at(self) -> float:
        """When all parts were last known to be current."""
        return min(self._confirmed.values())

    @property
    def under_way(self) -> asyncio.Task[Goods] | None:
        """The catalogue that is being read meanwhile."""
        return None if self._loading is None else self._loading.task

    async def brought_up_to_date(self, tx: Transaction, versions: Versions, goods: Goods) -> Goods:
        """Return the goods with all that could be read at once. Raises only when the transaction cannot go on."""
        goods = await self._with_catalogue(tx, versions, goods)
        if _CATALOGUE not in goods.versions:  # nothing is there yet, and everything comes with it
            return goods
        for topic in PARTS:
            goods = await self._with_part(tx, versions, goods, topic)
        return await self._with_stock(tx, versions, goods)

    async def _with_catalogue(self, tx: Transaction, versions: Versions, goods: Goods) -> Goods:
        wanted, held = versions.of(_CATALOGUE), goods.versions.get(_CATALOGUE)
        if held != wanted or self._loading is not None:
            found = await self._readers[_CATALOGUE].read(tx, lambda: self._load(tx, versions, goods), wanted)
            if found is not None:
                goods = found
                for part in (_CATALOGUE, *PARTS):
                    _log_unreadable(part, goods)
            held = goods.versions.get(_CATALOGUE)
        # Another server's number is most likely right: it is read again, and held to be out of date only if that fails.
        failing = self._readers[_CATALOGUE].failing
        if held == wanted or (held is not None and held.number == wanted.number and not failing):
            self._confirmed[_CATALOGUE] = versions.read_at
        return goods

    async def _load(self, tx: Transaction, versions: Versions, shown: Goods) -> Goods | None:
        """Read everything; return None while another process does."""
        if self._loading is None:
            if self._database_url is None or await count_products(tx) < self._many:
                return await read_goods(tx)
            # When it is the first, there are no answers yet.
            stands_back = bool(shown.versions) and not self._readers[_CATALOGUE].failing
            loading = load_elsewhere(
                self._database_url,
                niceness=_STANDING_BACK if stands_back else 0,
                seconds=self._patience if stands_back else _LONGEST_SECONDS,
            )
            self._loading = _Loading(asyncio.create_task(loading), versions.read_at)
        if not self._loading.task.done():
            return None
        done, self._loading = self._loading, None
        return await self._taken_over(tx, versions, done, shown)

    async def _taken_over(self, tx: Transaction, versions: Versions, loading: _Loading, shown: Goods) -> Goods:
        """Return loaded goods with what has changed since, so that no part ever goes back to what it was before."""
        goods = loading.task.result()
        for topic in PARTS:
            if goods.versions[topic] != versions.of(topic):
                goods = await with_part(tx, goods, topic, versions)
        # The prices of the profiles that were asked for before, so that no request has to work them out.
        await asyncio.to_thread(goods.book.lists.work_out, shown.book.lists.profiles)
        self._confirmed[_CATALOGUE] = max(self._confirmed[_CATALOGUE], loading.began)
        return goods

    async def _with_part(self, tx: Transaction, versions: Versions, goods: Goods, topic: Topic) -> Goods:
        wanted = versions.of(topic)
        if goods.versions.get(topic) != wanted:
            found = await self._readers[topic].read(tx, lambda: with_part(tx, goods, topic, versions), wanted)
            if found is None:
                return goods
            goods = found
            _log_unreadable(topic, goods)
        self._confirmed[topic] = versions.read_at
        return goods

    async def _with_stock(self, tx: Transaction, versions: Versions, goods: Goods) -> Goods:
        all_of_it = tx.session != self._stock_session
        found = await self._readers[_STOCK].read(tx, lambda: with_stock(tx, goods, versions, all_of_it=all_of_it))
        if found is None:
            return goods
        self._stock_session = tx.session
        self._confirmed[_STOCK] = versions.read_at
        return found


def _log_unreadable(part: Topic, goods: Goods) -> None:
    rows = goods.unreadable.get(part)
    if rows:
        log.error("rows cannot be read, what they describe is not for sale", part=part, rows=rows[:10], count=len(rows))
