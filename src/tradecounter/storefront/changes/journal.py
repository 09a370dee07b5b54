"""The noted changes in a process's memory; deletes old ones: a cursor is good for KEEP_CHANGES."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

import msgspec
import numpy as np
from msgspec import Struct, field

from tradecounter.db.changes import Topic, Versions
from tradecounter.db.transaction import Transaction
from tradecounter.storefront.changes.queries import (
    NOTED,
    Ids,
    NotedChange,
    delete_changes,
    distinct_ids,
    mark_versions,
    read_changes,
    read_forgotten,
    read_log,
)

# Whose prices changed: a price list's, a customer's, or (None) everybody's.
Subject = str | int | None

_MOST_IDS = 50_000  # of one subject, before its older changes are packed


class SubjectChanges(Struct):
    """The changes of one subject, in order of version; None: all products."""

    versions: list[int] = field(default_factory=list)
    ids: list[Ids | None] = field(default_factory=list)
    size: int = 0
    pack_at: int = _MOST_IDS

    def add(self, version: int, ids: Ids | None) -> None:
        """Add the change of a version that is newer than all others."""
        self.versions.append(version)
        self.ids.append(ids)
        self.size += 1 if ids is None else len(ids)

    def between(self, after: int, until: int) -> list[Ids | None]:
        """Return the changes after a version, up to another one."""
        return self.ids[bisect_right(self.versions, after) : bisect_right(self.versions, until)]

    def forget(self, until: int) -> None:
        """Drop the changes up to a version."""
        old = bisect_right(self.versions, until)
        del self.versions[:old], self.ids[:old]
        self.size = self._count()

    def pack(self, until: int) -> None:
        """Keep each product's latest change of those up to a version: the earlier ones tell nothing more."""
        if self.size < self.pack_at:
            return
        end = bisect_right(self.versions, until)
        newest_first = [(place, ids) for place in range(end - 1, -1, -1) if (ids := self.ids[place]) is not None]
        if newest_first:
            everything = np.concatenate([ids for _, ids in newest_first])
            latest = np.zeros(len(everything), dtype=np.bool_)
            latest[np.unique(everything, return_index=True)[1]] = True  # the first of equal ids
            starts = np.cumsum([len(ids) for _, ids in newest_first])[:-1]
            for (place, ids), kept in zip(newest_first, np.split(latest, starts), strict=True):
                self.ids[place] = ids[kept]
        self.size = self._count()
        self.pack_at = max(_MOST_IDS, 2 * self.size)

    def _count(self) -> int:
        return sum(1 if ids is None else len(ids) for ids in self.ids)


class Journal(Struct):
    """The changes that are kept, up to `read_to`, by topic and subject.

    States share it: each reads the changes up to its own versions. `logs` has the log of each server that was seen.
    """

    logs: dict[str, bytes] = field(default_factory=dict)
    server: str | None = None
    read_to: dict[Topic, int] = field(default_factory=dict)
    forgotten: dict[Topic, int] = field(default_factory=dict)
    _forgotten_text: str | None = None
    _of: dict[tuple[Topic, Subject], SubjectChanges] = field(default_factory=dict)
    _former_skus: dict[int, list[tuple[int, str]]] = field(default_factory=dict)  # by product, in order of version

    def between(self, topic: Topic, subject: Subject, after: int, until: int) -> list[Ids | None]:
        """Return the products that changed after a version, up to another one."""
        changes = self._of.get((topic, subject))
        return [] if changes is None or after >= until else changes.between(after, until)

    def subjects_between(self, topic: Topic, after: int, until: int) -> Iterator[Subject]:
        """Yield the price lists or the customers whose prices changed after a version, up to another one."""
        for (changed, subject), changes in self._of.items():
            if changed == topic and subject is not None and changes.between(after, until):
                yield subject

    async def refreshed(self, tx: Transaction, versions: Versions, shown: Mapping[Topic, int]) -> "Journal":
        """Return the journal with the changes up to `versions`; a new one after the server has changed.

        Changes up to the versions that are `shown` are packed.
        """
        journal = self
        if self.server != versions.server:
            log = await read_log(tx)
            journal = Journal({**self.logs, versions.server: log}, versions.server)
        after = {topic: journal.read_to.get(topic, 0) for topic in NOTED}
        now = {topic: versions.of(topic).number for topic in NOTED}
        if after == now and journal.read_to:
            return journal
        latest: list[NotedChange] = []  # added when all are read: a failure leaves a journal in use as it is
        async for change in read_changes(tx, after):
            if journal is self:
                latest.append(change)
            else:
                journal._add(change, shown)
        forgotten = await read_forgotten(tx)
        for change in latest:
            journal._add(change, shown)
        journal._forget(forgotten)
        journal.read_to = now
        return journal

    @property
    def has_former_skus(self) -> bool:
        """Whether the SKU of any product was spelled differently."""
        return bool(self._former_skus)

    def former_skus(self, product_id: int, after: int, until: int) -> list[str]:
        """Return how a product's SKU was spelled before versions of the catalogue after one, up to another one."""
        spelled = self._former_skus.get(product_id, ())
        return [sku for version, sku in spelled if after < version <= until]

    def _add(self, change: NotedChange, shown: Mapping[Topic, int]) -> None:
        ids = None if change.product_ids is None else distinct_ids(change.product_ids)
        subject = change.price_list if change.topic == "prices" else change.customer_id
        if change.former_skus is not None:
            for product_id, sku in msgspec.json.decode(change.former_skus, type=dict[int, str]).items():
                self._former_skus.setdefault(product_id, []).append((change.version, sku))
        noted = self._of.setdefault((change.topic, subject), SubjectChanges())
        noted.add(change.version, ids)
        noted.pack(shown.get(change.topic, 0))

    def _forget(self, text: str | None) -> None:
        if text is None or text == self._forgotten_text:
            return
        self._forgotten_text, self.forgotten = text, msgspec.json.decode(text, type=dict[Topic, int])
        for (topic, _), changes in self._of.items():
            changes.forget(self.forgotten.get(topic, 0))
        known = self.forgotten.get("catalogue", 0)
        kept = {key: [each for each in spelled if each[0] > known] for key, spelled in self._former_skus.items()}
        self._former_skus = {key: spelled for key, spelled in kept.items() if spelled}


_DELETE_EVERY = timedelta(minutes=55)  # between marks
_DELETE_MARGIN = timedelta(hours=1)  # clocks differ, and a process may show data that is minutes old


async def forget_catalogue_changes(tx: Transaction, now: datetime, keep: timedelta) -> int:
    """Delete the changes that no valid cursor needs, some hours after the last one expired; return how many."""
    await mark_versions(tx, now, now - _DELETE_EVERY)
    return await delete_changes(tx, now - keep - _DELETE_MARGIN)
