"""The catalogue snapshot: all products at one moment, laid out in memory; never changes.

Each product has a row. Rows are numbered in the order of folded SKUs, so ascending rows are sorted by SKU. Prices and
stock by row are kept outside the snapshot (`storefront/`).
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from tradecounter.catalogue.columns.bitmaps import bitmap
from tradecounter.catalogue.columns.bytes_column import BytesColumn, encoded
from tradecounter.catalogue.columns.inverted_index import InvertedIndex
from tradecounter.catalogue.columns.row_of_id import RowOfId
from tradecounter.catalogue.columns.sorted_keys import SortedKeys
from tradecounter.catalogue.columns.term_rows import TermRows
from tradecounter.catalogue.queries.records import (
    AttributeRecord,
    CategoryRecord,
    ManufacturerRecord,
    OrderableProduct,
    ProductRecord,
    ReferenceRecords,
    read_product_ids,
    read_reference,
)
from tradecounter.catalogue.snapshot.attribute_index import AttributeIndex, attribute_index
from tradecounter.catalogue.snapshot.fragments import Fragments
from tradecounter.catalogue.snapshot.part import PartBuilder, SnapshotPart, joined_parts, read_part
from tradecounter.catalogue.snapshot.search_index import SearchIndex
from tradecounter.catalogue.wire import Attribute, AttributeValue, Category, Manufacturer
from tradecounter.db.transaction import Transaction
from tradecounter.kit.digest import digest_of
from tradecounter.kit.text import fold
from tradecounter.rest.responses import to_json

ReadParts = Callable[[Transaction, ReferenceRecords, Sequence[int]], Awaitable[list[SnapshotPart]]]


async def read_in_one_part(tx: Transaction, reference: ReferenceRecords, ids: Sequence[int]) -> list[SnapshotPart]:
    """Read all products in this process."""
    return [await read_part(tx, reference, ids)]


@dataclass(frozen=True, slots=True)
class CatalogueSnapshot:
    """All products by row, with the indexes to find, sort and render them."""

    row_of_sku: SortedKeys
    rows_of_ean: InvertedIndex
    row_of_id: RowOfId
    active: BitMap
    clearance: BitMap
    manufacturers: dict[str, BitMap]
    categories: dict[str, BitMap]
    attributes: AttributeIndex
    search: SearchIndex
    name_rank: NDArray[np.int32]
    fragments: Fragments
    category_tree: list[Category]
    manufacturer_list: list[Manufacturer]
    attribute_list: list[Attribute]
    unreadable: tuple[str, ...]  # messages about rows that cannot be shown completely
    digest: bytes

    def __len__(self) -> int:
        return len(self.row_of_sku)

    def product(self, row: int) -> ProductRecord:
        """Return a row's product, decoded from its fragments in about 10 microseconds."""
        return self.fragments.product(row)

    def orderable(self, row: int) -> OrderableProduct:
        """Return what an order needs of a row's product, decoded without the rest."""
        return self.fragments.orderable(row)

    def row(self, sku: str) -> int | None:
        """Return the row of an active product by its SKU, ignoring case, or None."""
        row = self.row_of_sku.get(fold(sku))
        return row if row is not None and row in self.active else None


def snapshot_of(reference: ReferenceRecords, parts: Sequence[SnapshotPart]) -> CatalogueSnapshot:
    """Return the snapshot of all products, of which each part has the next rows."""
    products = joined_parts(parts)
    unreadable = list(products.unreadable)
    attribute_list = [
        Attribute(a.key, a.name, a.type, _possible_values(a, unreadable))
        for a in sorted(reference.attributes, key=lambda a: (fold(a.name), a.key))
    ]
    possible = {each.key: [v.value for v in each.possible_values] for each in attribute_list}
    flags = _bitmaps(products.flags)
    return CatalogueSnapshot(
        row_of_sku=SortedKeys(products.sku_keys),
        rows_of_ean=InvertedIndex.of_term_rows(products.eans),
        row_of_id=RowOfId.of(products.ids),
        active=flags.get("active", BitMap()),
        clearance=flags.get("clearance", BitMap()),
        manufacturers=_rows_of_manufacturers(_bitmaps(products.manufacturers), reference.manufacturers),
        categories=_rows_of_categories(_bitmaps(products.categories), reference.categories),
        attributes=attribute_index(reference.attributes, products.attributes, possible),
        search=SearchIndex(InvertedIndex.of_term_rows(products.words)),
        name_rank=_name_rank(products.names),
        fragments=products.fragments,
        category_tree=_tree(reference.categories),
        manufacturer_list=[
            Manufacturer(m.key, m.name) for m in sorted(reference.manufacturers, key=lambda m: (fold(m.name), m.key))
        ],
        attribute_list=attribute_list,
        unreadable=tuple(unreadable),
        digest=digest_of(to_json(reference), *products.fragments.buffers),
    )


def build_snapshot(reference: ReferenceRecords, products: Iterable[ProductRecord]) -> CatalogueSnapshot:
    """Return a snapshot of products in any order."""
    builder = PartBuilder(reference)
    builder.add(sorted(products, key=lambda p: encoded(p.sku_key)))
    return snapshot_of(reference, [builder.done()])


async def read_snapshot(tx: Transaction, read_parts: ReadParts = read_in_one_part) -> CatalogueSnapshot:
    """Return a snapshot of the catalogue, whose parts `read_parts` reads."""
    reference, ids = await read_reference(tx), await read_product_ids(tx)
    parts = await read_parts(tx, reference, ids)
    return await asyncio.to_thread(snapshot_of, reference, parts)


def _possible_values(attribute: AttributeRecord, unreadable: list[str]) -> list[AttributeValue]:
    try:
        return msgspec.convert(attribute.possible_values, list[AttributeValue])
    except msgspec.ValidationError as error:
        unreadable.append(f"possible values of attribute {attribute.key}: {error}")
        return []


def _bitmaps(found: TermRows[str]) -> dict[str, BitMap]:
    return {term: bitmap(rows) for term, rows in found.by_term().items()}


def _name_rank(names: BytesColumn) -> NDArray[np.int32]:
    """Return each row's place when sorted by folded name, then by SKU."""
    by_name = sorted(range(len(names)), key=names[:].__getitem__)
    rank = np.empty(len(names), dtype=np.int32)
    rank[by_name] = np.arange(len(names), dtype=np.int32)
    return rank


def _rows_of_manufacturers(
    rows: Mapping[str, BitMap], manufacturers: Iterable[ManufacturerRecord]
) -> dict[str, BitMap]:
    found: defaultdict[str, BitMap] = defaultdict(BitMap)
    for manufacturer in manufacturers:
        found[fold(manufacturer.key)] |= rows.get(manufacturer.key, BitMap())
    return dict(found)


def _rows_of_categories(own: Mapping[str, BitMap], categories: Sequence[CategoryRecord]) -> dict[str, BitMap]:
    """Return the rows by each category's key and name; a parent has its children's rows too."""
    found: defaultdict[str, BitMap] = defaultdict(BitMap)
    for category in categories:
        names = {fold(category.key), fold(category.name)}
        keys = (category.key, *(c.key for c in categories if c.parent_key == category.key))
        rows = BitMap.union(BitMap(), *(own.get(key, BitMap()) for key in keys))
        for name in names:
            found[name] |= rows
    return dict(found)


def _tree(categories: Sequence[CategoryRecord]) -> list[Category]:
    children: defaultdict[str | None, list[CategoryRecord]] = defaultdict(list)
    for category in categories:
        children[category.parent_key].append(category)
    return [
        Category(top.key, top.name, [Category(c.key, c.name, None) for c in children[top.key]] or None)
        for top in children[None]
    ]
