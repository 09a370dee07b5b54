"""Reads a page of a customer's changes, and waits for one."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from contextvars import Context
from datetime import timedelta
from typing import NamedTuple

import msgspec
import numpy as np
import psycopg
from cachetools import FIFOCache
from msgspec import Struct

from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.json_text import to_json
from tradecounter.storefront.catalogue_data import CatalogueData
from tradecounter.storefront.changes.cursor import Cursor, Cursors, Place, expired_cursor
from tradecounter.storefront.changes.differences import (
    OVERHEAD,
    ChangedRows,
    Differences,
    Lacks,
    Sight,
    changed_under_terms,
    differences,
    has_contracts,
    is_forgotten,
    lacks_of,
    touches_contracts,
    version_of,
)
from tradecounter.storefront.changes.followers import Followers
from tradecounter.storefront.changes.queries import Ids
from tradecounter.storefront.render import product_json
from tradecounter.storefront.storefront import RefreshableViews
from tradecounter.storefront.view import CustomerView

_CATCH_UP_SECONDS = 3.0  # that a request waits for this process to see what its cursor has seen in another one
_PAUSE_SECONDS = 0.2  # between two looks at the database for such requests
_RETRY_SECONDS = 5
_LONG_SECONDS = 0.005  # that a page takes: other requests come before the next one
_SHARED_BYTES = 4_000_000
_NOTHING = b"[]"


class FeedPage(Struct, frozen=True):
    """Changes as a JSON array, and the text of the cursor that follows them."""

    body: bytes
    cursor: bytes


class _RenderedChanges(Struct, frozen=True):
    """Changes as a JSON array, and the product id with which the next page begins; None after the last page."""

    body: bytes
    next_id: int | None = None

    @property
    def size(self) -> int:
        """The memory that it takes, in bytes."""
        return len(self.body) + OVERHEAD


_UNCHANGED = _RenderedChanges(_NOTHING)


class _Seen(Struct, frozen=True):
    """Changes since a cursor as a JSON array, and the cursor that follows them.

    `is_behind`: this process has not seen yet what the cursor has seen in another one.
    """

    body: bytes
    cursor: Cursor
    is_behind: bool = False


class _PageKey(NamedTuple):
    """What decides on a page for customers whose contract prices it does not touch."""

    lacks: Lacks
    next_id: int
    limit: int


class ChangeFeed:
    """Serves the changes of customers' catalogues from memory; cursors are valid for `keep`."""

    def __init__(
        self, views: RefreshableViews, followers: Followers, cursors: Cursors, clock: Clock, keep: timedelta
    ) -> None:
        self._views = views
        self._followers = followers
        self._cursors = cursors
        self._clock = clock
        self._keep = keep
        self._catching_up: asyncio.Task[None] | None = None
        self._may_look_at = 0.0
        self._turn = asyncio.Lock()
        self._took_long = False
        # What many customers get for one change that touches no contract price of theirs.
        self._shared: FIFOCache[_PageKey, _RenderedChanges] = FIFOCache(_SHARED_BYTES, lambda found: found.size)
        # What has changed for many customers, as rows of the data.
        self._changed: FIFOCache[Lacks, ChangedRows] = FIFOCache(_SHARED_BYTES, lambda changed: changed.size)
        self._found_in: CatalogueData | None = None  # whose rows these are

    async def start(self, customer_id: int) -> FeedPage:
        """Return no changes, and where the feed goes on. Raises DomainError (unavailable)."""
        await self._wait_for_turn()
        began = time.monotonic()
        try:
            sight = await self._sight(customer_id)
        finally:
            self._note_duration(began)
        if sight is None:
            message = "the catalogue is being read; try again in a few seconds"
            raise DomainError(Kind.UNAVAILABLE, message, retry_after=_RETRY_SECONDS)
        return self._page(customer_id, _NOTHING, Cursor(sight.place))

    async def page(self, customer_id: int, text: str, limit: int, wait_seconds: float = 0) -> FeedPage:
        """Return at most `limit` changes since a cursor; without any, wait for one.

        Raises DomainError: invalid, gone (expired), unavailable.
        """
        cursor = self._cursors.read(customer_id, text)
        came = time.monotonic()
        ends = came + wait_seconds
        catches_up_until = came + max(wait_seconds, _CATCH_UP_SECONDS)
        while True:
            seen = await self._look_for_changes(customer_id, cursor, limit, catches_up_until)
            was_in_pages, cursor = cursor.until is not None, seen.cursor
            if seen.body != _NOTHING:
                return self._page(customer_id, seen.body, cursor)
            if was_in_pages and not seen.is_behind:
                continue  # with what has changed since the first page
            left = (catches_up_until if seen.is_behind else ends) - time.monotonic()
            if left <= 0 or self._followers.is_ending:
                return self._page(customer_id, _NOTHING, cursor)
            if seen.is_behind:
                self._catch_up()
            await self._followers.wait(customer_id, left, for_any=seen.is_behind)

    async def _look_for_changes(self, customer_id: int, cursor: Cursor, limit: int, catches_up_until: float) -> _Seen:
        """Return what a cursor lacks of the data of this process. Raises DomainError: gone, unavailable."""
        await self._wait_for_turn()
        began = time.monotonic()
        try:
            sight = await self._sight(customer_id)
            self._require_kept(cursor, sight, patient=began < catches_up_until)
            if sight is None or not sight.place.covers(cursor.newest):
                # This process has nothing newer to tell, so its client stays where it is.
                return _Seen(_NOTHING, cursor, is_behind=True)
            changes = self._shared_changes(sight, cursor, limit)
            if changes.body != _NOTHING:
                _require_same_terms(cursor, sight.place)
            return _Seen(changes.body, _following(cursor, sight.place, changes.next_id))
        finally:
            self._note_duration(began)

    async def _wait_for_turn(self) -> None:
        """Let other requests and the polls come first after a page that took long.

        A change that concerns many wakes all of them at once; one after the other, they would hold up everything else.
        """
        if not self._took_long and not self._turn.locked():
            return
        async with self._turn:
            if self._took_long:
                self._took_long = False
                await asyncio.sleep(0)

    def _note_duration(self, began: float) -> None:
        self._took_long |= time.monotonic() - began > _LONG_SECONDS

    def _catch_up(self) -> None:
        """Have this process look at the database soon; all requests that are ahead of it share one look."""
        if self._catching_up is None or self._catching_up.done():
            self._catching_up = asyncio.create_task(self._look(), context=Context())

    async def _look(self) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(self._may_look_at - loop.time())
        self._may_look_at = loop.time() + _PAUSE_SECONDS
        with suppress(psycopg.Error):  # the next poll fails too, and logs it
            await self._views.refresher.catch_up()

    async def _sight(self, customer_id: int) -> Sight | None:
        self._views.freshness.require()
        sight = self._views.storefront.sight(customer_id)
        if sight is None:
            await self._views.of(customer_id)  # waits for a customer that was just added
            sight = self._views.storefront.sight(customer_id)
        return sight

    def _require_kept(self, cursor: Cursor, sight: Sight | None, *, patient: bool) -> None:
        """Raise DomainError (gone) if what followed the cursor may have been deleted, or the database replaced.

        `patient`: this process may not have noticed yet that the database was replaced.
        """
        position = cursor.since.position
        if position.at < (self._clock.now() - self._keep).timestamp():
            raise expired_cursor()
        if sight is None:
            return
        if position.log == sight.place.position.log:
            if is_forgotten(sight.journal, cursor.since):
                raise expired_cursor()
        elif position.log in sight.journal.logs.values() or not patient:
            raise expired_cursor()

    def _shared_changes(self, sight: Sight, cursor: Cursor, limit: int) -> _RenderedChanges:
        if cursor.since == sight.place:
            return _UNCHANGED
        if self._found_in is not sight.data:
            self._shared.clear()
            self._changed.clear()
            self._found_in = sight.data
        since = cursor.since
        lacks = lacks_of(sight, since)
        if has_contracts(sight, since) and touches_contracts(sight, since, self._changed_for(sight, since, lacks)):
            return _render_changes(sight, cursor, limit, self._changed_for(sight, since, lacks))
        asked = _PageKey(lacks, cursor.next_id, limit)
        changes = self._shared.get(asked)
        if changes is None:
            changes = _render_changes(sight, cursor, limit, self._changed_for(sight, since, lacks))
            if changes.size <= _SHARED_BYTES:
                self._shared[asked] = changes
        return changes

    def _changed_for(self, sight: Sight, since: Place, lacks: Lacks) -> ChangedRows:
        changed = self._changed.get(lacks)
        if changed is None:
            changed = changed_under_terms(sight, since)
            if changed.size <= _SHARED_BYTES:
                self._changed[lacks] = changed
        return changed

    def _page(self, customer_id: int, body: bytes, cursor: Cursor) -> FeedPage:
        return FeedPage(body, self._cursors.write(customer_id, cursor))


def _require_same_terms(cursor: Cursor, place: Place) -> None:
    """Raise DomainError (gone) if the customer's terms are others than at the first page.

    The copy then shows some products under the terms before the pages, and others under those of the first page, so
    that no cursor could follow.
    """
    if cursor.until is not None and msgspec.structs.replace(cursor.until.terms, day=place.terms.day) != place.terms:
        raise expired_cursor()


def _following(cursor: Cursor, place: Place, next_id: int | None) -> Cursor:
    """Return the cursor that follows a page of what `cursor` lacks of the place that was seen."""
    until = cursor.until or place
    return Cursor(until) if next_id is None else Cursor(cursor.since, until, next_id)


def _render_changes(sight: Sight, cursor: Cursor, limit: int, changed: ChangedRows) -> _RenderedChanges:
    """Return the next changes, by product id."""
    differing = differences(sight, cursor.since, changed)
    if not differing:
        return _UNCHANGED
    rows = np.concatenate((differing.changed, differing.removed))
    is_removed = np.arange(len(rows)) >= len(differing.changed)
    ids = sight.view.snapshot.row_of_id.ids(rows)
    order = np.argsort(ids, kind="stable")
    order = order[ids[order] >= cursor.next_id]
    page = order[:limit]
    chosen, removed = rows[page], is_removed[page]
    former_skus = _former_skus(sight, cursor.since, ids[page])
    changes = _as_json(sight.view, former_skus, Differences(chosen[~removed], chosen[removed]))
    return _RenderedChanges(b"[%b]" % b",".join(changes), int(ids[page[-1]]) + 1 if len(order) > limit else None)


def _former_skus(sight: Sight, since: Place, ids: Ids) -> list[str]:
    """Return the former spellings of SKUs, under which a follower may still keep the products."""
    if not sight.journal.has_former_skus:
        return []
    versions = version_of(since.position, "catalogue"), version_of(sight.place.position, "catalogue")
    return [sku for product_id in ids.tolist() for sku in sight.journal.former_skus(product_id, *versions)]


def _as_json(view: CustomerView, former_skus: list[str], chosen: Differences) -> Iterator[bytes]:
    """Yield each change as a JSON object: what is removed first, since a SKU may only be spelled differently now."""
    removed = [view.orderable(row).sku for row in chosen.removed.tolist()]
    for sku in dict.fromkeys([*former_skus, *removed]):
        yield b'{"sku":%b,"change":"removed","product":null}' % to_json(sku)
    costs = view.prices.costs(chosen.changed).tolist()
    for row, of_row in zip(chosen.changed.tolist(), costs, strict=True):
        named = to_json(view.orderable(row).sku)
        yield b'{"sku":%b,"change":"changed","product":%b}' % (named, product_json(view, row, of_row))
