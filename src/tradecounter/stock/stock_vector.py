"""Stock by catalogue row: what is for sale, who waits, what is to come. Immutable; a change makes a new one."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tradecounter.kit.digest import digest_of
from tradecounter.stock.records import DeliveryRecord, StockRecord
from tradecounter.stock.rules import Delivery


@dataclass(frozen=True)
class StockVector:
    """Units for sale and units back-ordered by row, and deliveries (in order of date) of the rows that have any."""

    available: NDArray[np.int64]
    back_ordered: NDArray[np.int64]
    deliveries: dict[int, tuple[Delivery, ...]]

    @cached_property
    def digest(self) -> bytes:
        """A digest of what customers see of stock: units for sale and deliveries."""
        return digest_of(self.available.tobytes(), repr(sorted(self.deliveries.items())).encode())

    def with_levels(self, levels: Iterable[StockRecord], row_of_id: Mapping[int, int]) -> Self:
        """Return the vector with some levels changed; products without a row are left out."""
        available, back_ordered = self.available.copy(), self.back_ordered.copy()
        for level in levels:
            row = row_of_id.get(level.product_id)
            if row is not None:
                available[row] = level.available
                back_ordered[row] = level.back_ordered
        return replace(self, available=available, back_ordered=back_ordered)

    def with_deliveries(self, records: Iterable[DeliveryRecord], row_of_id: Mapping[int, int]) -> Self:
        """Return the vector with all deliveries replaced; the records are in order of date."""
        deliveries: defaultdict[int, list[Delivery]] = defaultdict(list)
        for record in records:
            if record.product_id in row_of_id:
                row = row_of_id[record.product_id]
                deliveries[row].append(Delivery(record.incoming, record.expected_on))
        return replace(self, deliveries={row: tuple(due) for row, due in deliveries.items()})


def empty_stock(rows: int) -> StockVector:
    """Return a vector of so many rows with nothing in stock or to come."""
    nothing = np.zeros(rows, dtype=np.int64)
    return StockVector(nothing, nothing, {})
