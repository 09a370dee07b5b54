"""Stock by row of a catalogue snapshot."""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Self

import numpy as np
from cachetools import FIFOCache
from msgspec import Struct
from numpy.typing import NDArray
from pyroaring import BitMap

from tradecounter.db.seen import Seen
from tradecounter.kit.columns.lookups import RowOfId, bitmap
from tradecounter.kit.digest import digest_of
from tradecounter.stock.queries.stock import DeliveryRows, StockRows
from tradecounter.stock.rules import Delivery

_MOST_READS = 1000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class WrittenRows(Struct, frozen=True):
    """Rows whose stock level was written, and their digest."""

    rows: NDArray[np.int32]
    digest: bytes


@dataclass(frozen=True)
class StockVector:
    """Units for sale and back-ordered units by row, and the rows' deliveries in order of date.

    `changed_by` is the transaction that wrote each level last; 0 for rows without a level.
    """

    available: NDArray[np.int64]
    back_ordered: NDArray[np.int64]
    changed_by: NDArray[np.int64]
    deliveries: dict[int, tuple[Delivery, ...]]
    deliveries_digest: bytes
    _written: FIFOCache[tuple[Seen, Seen], WrittenRows] = field(
        default_factory=lambda: FIFOCache(_MOST_READS), init=False, compare=False
    )

    def written_between(self, before: Seen, now: Seen) -> WrittenRows:
        """Return the rows whose levels were written after one read and seen by a later one. Clients share few reads."""
        written = self._written.get((before, now))
        if written is None:
            rows = now.new_since(before, self.changed_by).astype(np.int32)
            written = self._written[before, now] = WrittenRows(rows, digest_of(rows.tobytes()))
        return written

    @cached_property
    def digest(self) -> bytes:
        """A digest of the stock that customers see: units for sale and deliveries."""
        return digest_of(self.available.tobytes(), self.deliveries_digest)

    @cached_property
    def most_first(self) -> NDArray[np.int64]:
        """Numbers by row whose ascending order begins with the most units for sale."""
        return -self.available

    @cached_property
    def in_stock(self) -> BitMap:
        """The rows with units for sale."""
        return bitmap(np.flatnonzero(self.available > 0))

    def with_levels(self, levels: StockRows, row_of_id: RowOfId) -> Self:
        """Return a vector with some levels changed; itself if none differs, so that what was made from it stays.

        Products without a row are ignored.
        """
        rows = row_of_id.rows(levels.product_ids)
        known = rows >= 0
        rows = rows[known]
        available = _with_values(self.available, rows, levels.available[known])
        back_ordered = _with_values(self.back_ordered, rows, levels.back_ordered[known])
        changed_by = _with_values(self.changed_by, rows, levels.changed_by[known])
        if available is self.available and back_ordered is self.back_ordered and changed_by is self.changed_by:
            return self
        return replace(self, available=available, back_ordered=back_ordered, changed_by=changed_by)

    def without_levels(self) -> Self:
        """Return a vector with the same deliveries and all levels 0."""
        nothing = np.zeros(len(self.available), dtype=np.int64)
        return replace(self, available=nothing, back_ordered=nothing, changed_by=nothing)

    def with_deliveries(self, due: DeliveryRows, row_of_id: RowOfId) -> Self:
        """Return a vector with all deliveries replaced."""
        deliveries: defaultdict[int, list[Delivery]] = defaultdict(list)
        columns = (row_of_id.rows(due.product_ids).tolist(), due.incoming.tolist(), due.moments.tolist())
        for row, incoming, moment in zip(*columns, strict=True):
            if row >= 0:
                deliveries[row].append(Delivery(incoming, _EPOCH + timedelta(microseconds=moment)))
        # Computed here and not in `digest`: deliveries may be thousands, and levels change every second.
        digest = digest_of(repr(sorted(deliveries.items())).encode())
        shown = {row: tuple(expected) for row, expected in deliveries.items()}
        return replace(self, deliveries=shown, deliveries_digest=digest)


def _with_values(column: NDArray[np.int64], rows: NDArray[np.int32], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a column with some values replaced; itself if none differs."""
    if np.array_equal(column[rows], values):
        return column
    changed = column.copy()
    changed[rows] = values
    return changed


def empty_stock(rows: int) -> StockVector:
    """Return a vector of `rows` rows without stock and deliveries."""
    nothing = np.zeros(rows, dtype=np.int64)
    return StockVector(
        available=nothing,
        back_ordered=nothing,
        changed_by=nothing,
        deliveries={},
        deliveries_digest=digest_of(repr([]).encode()),
    )
