"""Loads catalogue data part by part: prices, stock and terms never wait for the catalogue."""

import asyncio
import math

import structlog
from msgspec import Struct

from tradecounter.db.changes import Topic, Version, Versions
from tradecounter.db.refresher import Reader
from tradecounter.db.transaction import Transaction
from tradecounter.products.queries.records import count_products
from tradecounter.storefront.catalogue_data import (
    PARTS,
    CatalogueData,
    no_catalogue_data,
    read_catalogue_data,
    with_part,
    with_stock,
)
from tradecounter.storefront.changes.journal import Journal
from tradecounter.storefront.load_shared import CatalogueSource

log = structlog.get_logger()

_CATALOGUE: Topic = "catalogue"
_LARGE_PARTS: tuple[Topic, ...] = ("prices", "contracts", "deliveries")  # those that most responses depend on
_PRICES: tuple[Topic, ...] = ("prices", "contracts")
_LOW_PRIORITY = 10  # niceness; lets requests run first
_LONGEST_SECONDS = 600.0  # many times longer than the largest catalogues need


class CatalogueLoader:
    """Owns the latest catalogue data and the running load.

    A part that cannot be read keeps its last state; a later poll reads it again. With a `source`, a catalogue of
    `large_from` products or more is laid out in a subprocess, once for all processes of the machine.
    """

    def __init__(
        self, source: CatalogueSource | None, large_from: int, stale_after: float, *, notes_changes: bool = False
    ) -> None:
        """Take a `source` of large catalogues; `notes_changes` keeps the journal of the change feed current too."""
        self._catalogue = _CataloguePart(source, large_from, stale_after)
        self._parts: list[_VersionedPart | _StockPart] = [*map(_VersionedPart, PARTS), _StockPart()]
        self._data = no_catalogue_data()
        self._journal_reader = Reader("changes") if notes_changes else None
        self.journal = Journal()

    @property
    def verified_at(self) -> float:
        """When all parts were last known to be current."""
        return min(self._catalogue.verified_at, *(part.verified_at for part in self._parts))

    @property
    def running(self) -> asyncio.Task[CatalogueData] | None:
        """The load of a large catalogue."""
        return None if self._catalogue.load is None else self._catalogue.load.task

    @property
    def is_loading(self) -> bool:
        """Whether a large catalogue is being loaded."""
        return self.running is not None and not self.running.done()

    def has_large_change(self, versions: Versions) -> bool:
        """Return whether a refresh would read or install a part that affects many responses, for a large catalogue."""
        return len(self._data.snapshot) >= self._catalogue.large_from and (
            self._catalogue.is_loaded
            or any(self._data.versions.get(topic) != versions.of(topic) for topic in _LARGE_PARTS)
        )

    async def refresh(self, tx: Transaction, versions: Versions, *, only_small: bool = False) -> CatalogueData:
        """Read the parts that have changed, or `only_small` ones. Raises only if the transaction cannot continue."""
        later = self._parts_for_later(versions) if only_small else ()
        data = await self._catalogue.refreshed(tx, versions, self._data, install=not only_small)
        if data.versions:  # false until the first load, which reads all parts
            for part in self._parts:
                if part.topic not in later:
                    data = await part.refreshed(tx, versions, data)
        if self._journal_reader is not None and data.versions:
            shown = {topic: version.number for topic, version in data.versions.items()}
            read = self._journal_reader.read(tx, lambda: self.journal.refreshed(tx, versions, shown))
            self.journal = await read or self.journal
        self._data = data
        return data

    def _parts_for_later(self, versions: Versions) -> tuple[Topic, ...]:
        """Return the parts that wait for a turn; customers' terms wait for the prices with which they changed."""
        changed = any(self._data.versions.get(topic) != versions.of(topic) for topic in _PRICES)
        return (*_LARGE_PARTS, "customers") if changed else _LARGE_PARTS


class _Load(Struct, frozen=True):
    """A load of a large catalogue; its result was current at `started` or later."""

    task: asyncio.Task[CatalogueData]
    started: float


class _CataloguePart:
    """The products; reading them also reads all other parts.

    The subprocess has low priority for half of the time until the data is stale. A load that takes longer is killed,
    and the next load has normal priority.
    """

    def __init__(self, source: CatalogueSource | None, large_from: int, stale_after: float) -> None:
        self._source = source
        self.large_from = large_from
        self._low_priority_seconds = min(stale_after / 2, _LONGEST_SECONDS)
        self._reader = Reader(_CATALOGUE)
        self.load: _Load | None = None
        self.verified_at = -math.inf

    @property
    def is_loaded(self) -> bool:
        """Whether a large catalogue was loaded and is to be installed."""
        return self.load is not None and self.load.task.done()

    async def refreshed(
        self, tx: Transaction, versions: Versions, data: CatalogueData, *, install: bool
    ) -> CatalogueData:
        """Return the data with the current catalogue; unchanged if reading it fails or has not finished.

        Without `install`, a large catalogue is loaded, but not yet returned.
        """
        wanted = versions.of(_CATALOGUE)
        if data.versions.get(_CATALOGUE) != wanted or self.load is not None:
            data = await self._reader.read(tx, lambda: self._read(tx, versions, data, install=install), wanted) or data
        if self._is_current(data.versions.get(_CATALOGUE), wanted):
            self.verified_at = versions.read_at
        return data

    def _is_current(self, version: Version | None, wanted: Version) -> bool:
        if version is None or version.number != wanted.number:
            return False
        # The same number on another server very likely means the same data, so it counts unless reading there fails.
        return version.server == wanted.server or not self._reader.failing

    async def _read(
        self, tx: Transaction, versions: Versions, catalogue_data: CatalogueData, *, install: bool
    ) -> CatalogueData | None:
        """Read all parts; return None while a large catalogue is loaded, or without `install`."""
        if self.load is None:
            if self._source is None or await count_products(tx) < self.large_from:
                return await _caught_up(tx, versions, await read_catalogue_data(tx), catalogue_data)
            # During the first load, an API process serves no requests, and those of a back office wait for it.
            low_priority = bool(catalogue_data.versions) and not self._reader.failing
            loading = self._source.load(
                versions.of(_CATALOGUE),
                niceness=_LOW_PRIORITY if low_priority else 0,
                seconds=self._low_priority_seconds if low_priority else _LONGEST_SECONDS,
            )
            self.load = _Load(asyncio.create_task(loading), versions.read_at)
        if not (install and self.is_loaded):
            return None
        load, self.load = self.load, None
        data = await _caught_up(tx, versions, load.task.result(), catalogue_data)
        self.verified_at = max(self.verified_at, load.started)
        return data


async def _caught_up(
    tx: Transaction, versions: Versions, data: CatalogueData, catalogue_data: CatalogueData
) -> CatalogueData:
    """Return loaded data with missing parts added and older parts replaced, so no part returns to an older state."""
    for topic in PARTS:
        if data.versions.get(topic) != versions.of(topic):
            data = await with_part(tx, data, topic, versions, from_the_start=True)
    # Compute the prices of the profiles in use here, so that no request waits for them.
    await asyncio.to_thread(data.book.lists.prepare, catalogue_data.book.lists.profiles)
    _log_unreadable(data, _CATALOGUE, *PARTS)
    return data


class _VersionedPart:
    """One of the PARTS; read when its version changes."""

    def __init__(self, topic: Topic) -> None:
        self.topic: Topic = topic
        self._reader = Reader(topic)
        self._session: int | None = None
        self.verified_at = -math.inf

    async def refreshed(self, tx: Transaction, versions: Versions, data: CatalogueData) -> CatalogueData:
        """Return the data with the current part; unchanged if reading it fails."""
        wanted = versions.of(self.topic)
        if data.versions[self.topic] != wanted:
            new_session = tx.session != self._session  # perhaps of a restored database
            found = await self._reader.read(
                tx, lambda: with_part(tx, data, self.topic, versions, from_the_start=new_session), wanted
            )
            if found is None:
                return data
            data = found
            _log_unreadable(data, self.topic)
        self._session = tx.session
        self.verified_at = versions.read_at
        return data


class _StockPart:
    """Stock levels, which have no version: changed ones are read with every poll."""

    topic = None

    def __init__(self) -> None:
        self._reader = Reader("stock")
        self._session: int | None = None
        self.verified_at = -math.inf

    async def refreshed(self, tx: Transaction, versions: Versions, data: CatalogueData) -> CatalogueData:
        """Return the data with the current stock levels; unchanged if reading them fails."""
        new_session = tx.session != self._session
        found = await self._reader.read(tx, lambda: with_stock(tx, data, versions, from_the_start=new_session))
        if found is None:
            return data
        self._session = tx.session
        self.verified_at = versions.read_at
        return found


def _log_unreadable(data: CatalogueData, *topics: Topic) -> None:
    for topic in topics:
        if rows := data.unreadable.get(topic):
            log.error(
                "rows cannot be read, so their products are not for sale", part=topic, rows=rows[:10], count=len(rows)
            )
