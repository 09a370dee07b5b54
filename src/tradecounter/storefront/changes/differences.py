"""What differs in a customer's catalogue since a place, from memory (docs/change-feed.md has the rules)."""

from collections.abc import Iterable
from datetime import date, datetime
from functools import reduce

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tradecounter.db.changes import Topic
from tradecounter.kit.columns.lookups import are_among, bitmap, rows_of
from tradecounter.prices.price_book import DEFAULT_LIST, PriceVector, SharedPrices, discounted
from tradecounter.prices.queries.prices import NO_PRICE
from tradecounter.stock.stock_vector import WrittenRows
from tradecounter.storefront.catalogue_data import CatalogueData
from tradecounter.storefront.changes.cursor import Place, Position, Terms
from tradecounter.storefront.changes.journal import Journal, Subject
from tradecounter.storefront.changes.queries import NOTED, Ids
from tradecounter.storefront.queries import TOPICS
from tradecounter.storefront.view import CustomerView

Rows = NDArray[np.int32]

_NONE: Rows = np.empty(0, dtype=np.int32)
_FEW = 64  # rows that are looked up one at a time
OVERHEAD = 500  # approximate bytes of an entry of a cache, with its key, that has no rows


class Outlook(Struct, frozen=True):
    """What a process shows to all customers on a UK date, and the changes that led there."""

    data: CatalogueData
    journal: Journal
    position: Position | None
    day: date


class Sight(Struct, frozen=True):
    """What a process shows to a customer: at a place, with the changes that led there."""

    customer_id: int
    view: CustomerView
    data: CatalogueData
    journal: Journal
    place: Place


class Differences(Struct, frozen=True):
    """The rows, in ascending order, whose products the customer's copy lacks or has otherwise, or must not have."""

    changed: Rows
    removed: Rows

    def __bool__(self) -> bool:
        return bool(len(self.changed) or len(self.removed))


def position_of(data: CatalogueData, journal: Journal, now: datetime) -> Position | None:
    """Return the position of data; None if its parts come from several logs, as in the moment after a fail-over.

    A part counts as being as old as the journal, which is read after it and may have failed.
    """
    servers = {version.server for version in data.versions.values()} | {data.stock_position.server}
    logs = {journal.logs.get(server) for server in servers}
    log = logs.pop()
    if logs or log is None or any(topic not in data.versions for topic in TOPICS):
        return None
    versions = [data.versions[topic].number for topic in TOPICS]
    noted = [min(number, journal.read_to.get(topic, number)) for topic, number in zip(TOPICS, versions, strict=True)]
    return Position(log, int(now.timestamp()), tuple(noted), data.stock_position.seen)


def is_forgotten(journal: Journal, place: Place) -> bool:
    """Return whether changes after a place have been deleted."""
    return any(version_of(place.position, topic) < journal.forgotten.get(topic, 0) for topic in NOTED)


def version_of(position: Position, topic: Topic) -> int:
    """Return a topic's version at a position."""
    return position.versions[TOPICS.index(topic)]


def has_contracts(sight: Sight, since: Place) -> bool:
    """Return whether the customer has, or had at a place or later, contract prices."""
    versions = version_of(since.position, "contracts"), version_of(sight.place.position, "contracts")
    return sight.data.book.contracts.has_any(sight.customer_id) or bool(
        sight.journal.between("contracts", sight.customer_id, *versions)
    )


class Lacks(Struct, frozen=True):
    """What a copy lacks of what a process shows: the same changes for copies that were read at other moments."""

    versions: tuple[int, ...]
    levels: bytes  # a digest of the rows whose stock level was written since
    terms: Terms
    seen: Place


def lacks_of(sight: Sight, since: Place) -> Lacks:
    """Return what decides on the changes since a place of the sight's log, for customers without contract prices."""
    return Lacks(since.position.versions, _noted(sight, since).levels().digest, since.terms, sight.place)


class ChangedRows(Struct, frozen=True):
    """What has changed since a place for all customers under the same terms, but for their contract prices."""

    detail: Rows
    all_details: bool
    listed: Rows  # whose price on the customers' list has changed
    shown: Rows  # whose stock level, expected deliveries or label may show differently
    rows: Rows  # all of these, in ascending order

    @property
    def size(self) -> int:
        """The memory that it takes, in bytes."""
        return sum(part.nbytes for part in (self.detail, self.listed, self.shown, self.rows)) + OVERHEAD


def changed_under_terms(sight: Sight, since: Place) -> ChangedRows:
    """Return what has changed for the customers under the sight's terms whose copies show `since`."""
    noted = _noted(sight, since)
    detail, all_details = noted.rows("catalogue", None)
    lists = {since.terms.price_list, sight.place.terms.price_list}
    listed = reduce(np.union1d, map(noted.list_prices, lists), _NONE)
    shown = np.concatenate((noted.levels().rows, _delivered(sight, since, noted), _labelled(sight, since)))
    return ChangedRows(
        detail=detail,
        all_details=all_details,
        listed=listed,
        shown=shown,
        rows=np.unique(np.concatenate((detail, listed, shown))),
    )


def touches_contracts(sight: Sight, since: Place, changed: ChangedRows) -> bool:
    """Return whether the differences of a customer may be others than those of one without contract prices."""
    if since.terms != sight.place.terms or changed.all_details:
        return True
    versions = version_of(since.position, "contracts"), version_of(sight.place.position, "contracts")
    if sight.journal.between("contracts", sight.customer_id, *versions):
        return True
    # The contract prices that are valid are the same as then.
    own = sight.view.prices.contract_rows
    few, many = (own, changed.rows) if len(own) < len(changed.rows) else (changed.rows, own)
    return bool(are_among(few, many).any())


def differences(sight: Sight, since: Place, changed: ChangedRows) -> Differences:
    """Return what a copy that shows `since`, not newer than the sight, must change to show the sight.

    May include products that are equal again, or that changed in a way that does not show. `changed` is of the same
    place and sight.
    """
    priced_anew = _priced_anew(sight, since, changed)
    view = sight.view
    candidates = np.unique(np.concatenate((changed.detail, priced_anew, changed.shown)))
    is_active = _are_active(candidates, view)
    is_priced = view.prices.single_costs(candidates) != NO_PRICE if len(candidates) else np.empty(0, dtype=np.bool_)
    is_visible = is_active & is_priced
    visible = rows_of(view.visible) if changed.all_details else candidates[is_visible]
    if is_visible.all():
        return Differences(visible, _NONE)
    gone = candidates[~is_visible]
    # Only what the customer can have seen: the product or its price has changed, and so it was there before.
    was_active = is_active[~is_visible] | np.isin(gone, changed.detail)
    was_priced = is_priced[~is_visible] | np.isin(gone, priced_anew)
    return Differences(visible, gone[was_active & was_priced])


class Noted(Struct, frozen=True):
    """The changes between two positions, as rows of the data, which is at the later one."""

    data: CatalogueData
    journal: Journal
    after: Position
    until: Position

    def rows(self, topic: Topic, subject: Subject) -> tuple[Rows, bool]:
        """Return the rows of a subject's changes; and whether all products have changed."""
        lists = self.journal.between(topic, subject, *self._versions(topic))
        return self._rows(ids for ids in lists if ids is not None), any(ids is None for ids in lists)

    def subjects(self, topic: Topic) -> frozenset[Subject]:
        """Return the price lists or the customers whose prices have changed."""
        return frozenset(self.journal.subjects_between(topic, *self._versions(topic)))

    def levels(self) -> WrittenRows:
        """Return the rows whose stock level was written."""
        return self.data.stock.written_between(self.after.stock, self.until.stock)

    def list_prices(self, price_list: str | None) -> Rows:
        """Return the rows whose price on a list, or where the list has none, on the default list, has changed."""
        lists = self.data.book.lists
        default, _ = self.rows("prices", DEFAULT_LIST)
        if price_list in (None, DEFAULT_LIST):
            return default
        own, _ = self.rows("prices", price_list)
        if len(default):
            # The list has a price of its own where its price differs from the default list's.
            same = lists.listed(price_list)[default] == lists.listed(None)[default]
            default = default[same.all(axis=1)]
        return np.concatenate((own, default))

    def _versions(self, topic: Topic) -> tuple[int, int]:
        return version_of(self.after, topic), version_of(self.until, topic)

    def _rows(self, lists: Iterable[Ids]) -> Rows:
        ids = list(lists)
        if not ids:
            return _NONE
        rows = self.data.snapshot.row_of_id.rows(np.concatenate(ids))
        return rows[rows >= 0]


def _noted(sight: Sight, since: Place) -> Noted:
    return Noted(sight.data, sight.journal, since.position, sight.place.position)


def _are_active(rows: Rows, view: CustomerView) -> NDArray[np.bool_]:
    active = view.snapshot.active
    if len(rows) <= _FEW:
        return np.fromiter((row in active for row in rows.tolist()), dtype=np.bool_, count=len(rows))
    return np.isin(rows, rows_of(bitmap(rows) & active))


def _priced_anew(sight: Sight, since: Place, changed: ChangedRows) -> Rows:
    """Return the rows whose price for the customer has changed, or may have."""
    agreed, _ = _noted(sight, since).rows("contracts", sight.customer_id)
    former, now = _former_prices(sight, since.terms), sight.view.prices
    # A contract price that was and is valid hides the list.
    hidden = are_among(changed.listed, former.contract_rows) & are_among(changed.listed, now.contract_rows)
    return np.concatenate((changed.listed[~hidden], agreed, _differently_priced(former, now)))


def _former_prices(sight: Sight, terms: Terms) -> PriceVector:
    """Return today's prices under former terms: those of the copy, but for prices that have changed since."""
    now, book = sight.place.terms, sight.data.book
    if terms == now:
        return sight.view.prices
    shared = sight.view.prices.shared
    if (terms.price_list, terms.discount) != (now.price_list, now.discount):
        # Not cached as those of a profile are: a customer's terms change seldom.
        shared = SharedPrices(discounted(book.lists.listed(terms.price_list), terms.discount))
    return PriceVector(shared, *book.contracts.valid_on(sight.customer_id, terms.date))


def _differently_priced(former: PriceVector, now: PriceVector) -> Rows:
    if former is now:
        return _NONE
    if former.shared is now.shared:
        rows = np.union1d(former.contract_rows, now.contract_rows)
    else:
        rows = np.arange(len(now.shared.costs), dtype=np.int32)
    if not len(rows):
        return _NONE
    different: Rows = rows[(former.costs(rows) != now.costs(rows)).any(axis=1)]
    return different


def _delivered(sight: Sight, since: Place, noted: Noted) -> Rows:
    """Return the rows whose expected deliveries show differently."""
    now = sight.place.terms.trade_account
    if now != since.terms.trade_account:
        rows, _ = noted.rows("deliveries", None)
        return np.concatenate((rows, np.fromiter(sight.data.stock.deliveries, dtype=np.int32)))
    return noted.rows("deliveries", None)[0] if now else _NONE


def _labelled(sight: Sight, since: Place) -> Rows:
    """Return the rows whose label may differ because the threshold of low stock does."""
    thresholds = sorted((since.terms.low_stock, sight.place.terms.low_stock))
    if thresholds[0] == thresholds[1]:
        return _NONE
    available = sight.view.stock.available
    return np.flatnonzero((available >= thresholds[0]) & (available <= thresholds[1])).astype(np.int32)
