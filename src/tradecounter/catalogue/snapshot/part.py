"""A part of a catalogue snapshot: the products of neighbouring rows, encoded, with what the indexes need of them.

Most of the time that a snapshot takes is spent here. Parts do not depend on each other, so several processes can make
them at the same time.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tradecounter.catalogue.columns.bytes_column import BytesColumn, bytes_column, encoded, joined_columns
from tradecounter.catalogue.columns.term_rows import TermRows, TermRowsBuilder, joined_term_rows
from tradecounter.catalogue.queries.records import AttributeRecord, ProductRecord, ReferenceRecords, read_products
from tradecounter.catalogue.snapshot.fragments import Fragments, FragmentsBuilder, joined_fragments
from tradecounter.catalogue.snapshot.search_index import SearchWords
from tradecounter.db.transaction import Transaction
from tradecounter.kit.text import fold

_BATCH = 500  # products


@dataclass(frozen=True, slots=True)
class SnapshotPart:
    """Products by row, in order of folded SKU."""

    ids: NDArray[np.int64]
    sku_keys: BytesColumn
    names: BytesColumn  # folded
    flags: TermRows[str]  # "active", "clearance"
    eans: TermRows[bytes]
    manufacturers: TermRows[str]
    categories: TermRows[str]
    attributes: TermRows[tuple[str, str]]  # keys and values
    words: TermRows[bytes]
    fragments: Fragments
    unreadable: tuple[str, ...]  # messages about rows that cannot be shown completely


class PartBuilder:
    """Builds a part from products in order of folded SKU."""

    def __init__(self, reference: ReferenceRecords) -> None:
        self.unreadable: list[str] = []
        self._fragments = FragmentsBuilder(_shown_names(reference.attributes))
        self._words = SearchWords({m.key: m.name for m in reference.manufacturers})
        self._ids: list[int] = []
        self._sku_keys: list[bytes] = []
        self._names: list[bytes] = []
        self._flags = TermRowsBuilder[str]()
        self._eans = TermRowsBuilder[bytes]()
        self._manufacturers = TermRowsBuilder[str]()
        self._categories = TermRowsBuilder[str]()
        self._attributes = TermRowsBuilder[tuple[str, str]]()

    def add(self, products: Iterable[ProductRecord]) -> None:
        """Add the products of the next rows. Takes about 30 microseconds each, too long for the event loop."""
        for product in products:
            self._ids.append(product.id)
            self._sku_keys.append(encoded(product.sku_key))
            self._names.append(encoded(fold(product.name)))
            self._flags.add(_FLAGS[product.active, product.clearance_product])
            self._eans.add((encoded(product.ean),) if product.ean else ())
            self._manufacturers.add((product.manufacturer,))
            self._categories.add(product.categories)
            self._attributes.add(product.attributes.items())
            self._words.add(product)
            self._fragments.add(product)

    def done(self) -> SnapshotPart:
        """Return the part."""
        return SnapshotPart(
            ids=np.array(self._ids, dtype=np.int64),
            sku_keys=bytes_column(self._sku_keys),
            names=bytes_column(self._names),
            flags=self._flags.done(),
            eans=self._eans.done(),
            manufacturers=self._manufacturers.done(),
            categories=self._categories.done(),
            attributes=self._attributes.done(),
            words=self._words.done(),
            fragments=self._fragments.done(),
            unreadable=tuple(self.unreadable),
        )


_FLAGS: dict[tuple[bool, bool], tuple[str, ...]] = {
    (False, False): (),
    (False, True): ("clearance",),
    (True, False): ("active",),
    (True, True): ("active", "clearance"),
}


async def read_part(tx: Transaction, reference: ReferenceRecords, ids: Sequence[int]) -> SnapshotPart:
    """Read these products, which are in order of folded SKU, in batches, to save memory; a thread encodes them."""
    builder = PartBuilder(reference)
    products: list[ProductRecord] = []
    for start in range(0, len(ids), _BATCH):
        # The database reads the next batch while a thread adds this one.
        products, _ = await asyncio.gather(
            read_products(tx, ids[start : start + _BATCH], builder.unreadable),
            asyncio.to_thread(builder.add, products),
        )
    await asyncio.to_thread(builder.add, products)
    return await asyncio.to_thread(builder.done)


def joined_parts(parts: Sequence[SnapshotPart]) -> SnapshotPart:
    """Return the rows of several parts, one after another."""
    if len(parts) == 1:
        return parts[0]
    firsts = np.cumsum([0, *(len(part.ids) for part in parts[:-1])]).tolist()
    return SnapshotPart(
        ids=np.concatenate([part.ids for part in parts]),
        sku_keys=joined_columns([part.sku_keys for part in parts]),
        names=joined_columns([part.names for part in parts]),
        flags=joined_term_rows([part.flags for part in parts], firsts),
        eans=joined_term_rows([part.eans for part in parts], firsts),
        manufacturers=joined_term_rows([part.manufacturers for part in parts], firsts),
        categories=joined_term_rows([part.categories for part in parts], firsts),
        attributes=joined_term_rows([part.attributes for part in parts], firsts),
        words=joined_term_rows([part.words for part in parts], firsts),
        fragments=joined_fragments([part.fragments for part in parts]),
        unreadable=tuple(message for part in parts for message in part.unreadable),
    )


def _shown_names(attributes: Sequence[AttributeRecord]) -> dict[str, str]:
    """Return the name that products show for each attribute's key. Attributes that share a name are shown by key."""
    uses = Counter(fold(a.name) for a in attributes)
    return {a.key: a.name if uses[fold(a.name)] == 1 else a.key for a in attributes}
