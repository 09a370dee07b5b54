"""The catalogue snapshot: all products at one moment, laid out in memory; never changes.

Each product has a row. Rows are numbered in the order of folded SKUs, so ascending rows are sorted by SKU. Prices and
stock by row are kept outside the snapshot (`storefront/`).
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray
from pyroaring import BitMap

from tradecounter.db.transaction import Transaction
from tradecounter.kit.columns.bytes_column import bytes_column, encoded
from tradecounter.kit.columns.lookups import InvertedIndex, RowOfId, SortedKeys
from tradecounter.kit.digest import digest_of
from tradecounter.kit.json_text import to_json
from tradecounter.kit.keys import key_form
from tradecounter.kit.text import fold
from tradecounter.products.queries.records import (
    AttributeRecord,
    CategoryRecord,
    ManufacturerRecord,
    OrderableProduct,
    ProductRecord,
    ReferenceRecords,
    read_product_ids,
    read_products,
    read_reference,
    read_synonyms,
)
from tradecounter.products.search.index import SearchIndex, SearchIndexBuilder
from tradecounter.products.snapshot.attribute_index import AttributeIndex, AttributeIndexBuilder
from tradecounter.products.snapshot.fragments import Fragments, FragmentsBuilder
from tradecounter.products.wire import AttributeValue, Category, Manufacturer, ProductAttribute

_BATCH = 500  # products


class CatalogueSnapshot(Struct, frozen=True):
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
    attribute_list: list[ProductAttribute]
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

    def named(self, text: str) -> tuple[BitMap, BitMap]:
        """Return the row whose SKU a text is, and the rows whose EAN it is."""
        text = text.strip()
        row = self.row_of_sku.get(key_form(text))
        return BitMap([] if row is None else [row]), self.rows_of_ean.get(text) or BitMap()

    def row(self, sku: str) -> int | None:
        """Return the row of an active product by its SKU, ignoring case, or None."""
        row = self.row_of_sku.get(key_form(sku))
        return row if row is not None and row in self.active else None


class SnapshotBuilder:
    """Builds a snapshot from products in order of folded SKU; unless `is_searched`, no words find them."""

    def __init__(self, reference: ReferenceRecords, *, is_searched: bool = True) -> None:
        self._reference = reference
        self.unreadable: list[str] = []
        self._fragments = FragmentsBuilder(_shown_names(reference.attributes))
        self._search = SearchIndexBuilder() if is_searched else None
        self._attributes = AttributeIndexBuilder(reference.attributes)
        self._ids: list[int] = []
        self._names: list[str] = []
        self._skus: list[bytes] = []
        self._active, self._clearance = BitMap(), BitMap()
        self._of_ean: defaultdict[bytes, list[int]] = defaultdict(list)
        self._of_manufacturer: defaultdict[str, BitMap] = defaultdict(BitMap)
        self._of_category: defaultdict[str, BitMap] = defaultdict(BitMap)

    def add(self, products: Sequence[ProductRecord]) -> None:
        """Add the products of the next rows. Takes about 25 microseconds each, too long for the event loop."""
        first = len(self._ids)
        self._ids += [product.id for product in products]
        self._names += [fold(product.name) for product in products]
        self._skus += [encoded(product.sku_key) for product in products]
        self._fragments.add(products)
        if self._search is not None:
            self._search.add(first, products)
        for row, product in enumerate(products, start=first):
            if product.active:
                self._active.add(row)
            if product.clearance_product:
                self._clearance.add(row)
            if product.ean:
                self._of_ean[encoded(product.ean)].append(row)
            self._of_manufacturer[product.manufacturer].add(row)
            for key in product.categories:
                self._of_category[key].add(row)
            self._attributes.add(row, product)

    def done(self) -> CatalogueSnapshot:
        """Return the snapshot."""
        reference = self._reference
        fragments = self._fragments.done()
        attribute_list = [
            ProductAttribute(a.key, a.name, a.type, self._possible_values(a))
            for a in sorted(reference.attributes, key=lambda a: (fold(a.name), a.key))
        ]
        categories = _rows_of_categories(self._of_category, reference.categories)
        possible = {each.key: [v.value for v in each.possible_values] for each in attribute_list}
        return CatalogueSnapshot(
            row_of_sku=SortedKeys(bytes_column(self._skus)),
            rows_of_ean=InvertedIndex.of(self._of_ean),
            row_of_id=RowOfId.of(self._ids),
            active=self._active,
            clearance=self._clearance,
            manufacturers=_rows_of_manufacturers(self._of_manufacturer, reference.manufacturers),
            categories=categories,
            attributes=self._attributes.done(possible),
            search=self._search_index(self._search, categories),
            name_rank=_name_rank(self._names),
            fragments=fragments,
            category_tree=_tree(reference.categories),
            manufacturer_list=[
                Manufacturer(m.key, m.name)
                for m in sorted(reference.manufacturers, key=lambda m: (fold(m.name), m.key))
            ],
            attribute_list=attribute_list,
            unreadable=tuple(self.unreadable),
            digest=digest_of(to_json(reference), *fragments.parts),
        )

    def _search_index(self, builder: SearchIndexBuilder | None, categories: Mapping[str, BitMap]) -> SearchIndex:
        if builder is None:
            return _nothing_searched()
        return builder.done(
            _texts(self._of_manufacturer, {m.key: m.name for m in self._reference.manufacturers}),
            ((name, rows.to_array()) for name, rows in categories.items()),
            self._attributes.texts(),
            self._reference.synonyms,
        )

    def _possible_values(self, attribute: AttributeRecord) -> list[AttributeValue]:
        try:
            return msgspec.convert(attribute.possible_values, list[AttributeValue])
        except msgspec.ValidationError as error:
            self.unreadable.append(f"possible values of attribute {attribute.key}: {error}")
            return []


@cache
def _nothing_searched() -> SearchIndex:
    return SearchIndexBuilder().done((), (), (), ())


def build_snapshot(
    reference: ReferenceRecords, products: Iterable[ProductRecord], *, is_searched: bool = True
) -> CatalogueSnapshot:
    """Return a snapshot of products in any order; unless `is_searched`, no words find them, in a third of the time."""
    builder = SnapshotBuilder(reference, is_searched=is_searched)
    builder.add(sorted(products, key=lambda p: encoded(p.sku_key)))
    return builder.done()


async def read_snapshot(tx: Transaction) -> CatalogueSnapshot:
    """Return a snapshot of the catalogue. Reads products in batches, to save memory, and indexes them in a thread."""
    builder = SnapshotBuilder(replace(await read_reference(tx), synonyms=await read_synonyms(tx)))
    ids = await read_product_ids(tx)
    products: list[ProductRecord] = []
    for start in range(0, len(ids), _BATCH):
        # The database reads the next batch while a thread adds this one.
        products, _ = await asyncio.gather(
            read_products(tx, ids[start : start + _BATCH], builder.unreadable),
            asyncio.to_thread(builder.add, products),
        )
    await asyncio.to_thread(builder.add, products)
    return await asyncio.to_thread(builder.done)


def _name_rank(names: Sequence[str]) -> NDArray[np.int32]:
    """Return each row's place when sorted by folded name, then by SKU."""
    by_name = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), dtype=np.int32)
    rank[by_name] = np.arange(len(names), dtype=np.int32)
    return rank


def _texts(rows_of_key: Mapping[str, BitMap], names: Mapping[str, str]) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield the keys, and the names that they have, with their rows."""
    for key, rows in rows_of_key.items():
        for text in {key, names.get(key, key)}:
            yield text, rows.to_array()


def _rows_of_manufacturers(
    rows: Mapping[str, BitMap], manufacturers: Iterable[ManufacturerRecord]
) -> dict[str, BitMap]:
    rows_of_name: defaultdict[str, BitMap] = defaultdict(BitMap)
    for manufacturer in manufacturers:
        rows_of_name[fold(manufacturer.key)] |= rows.get(manufacturer.key, BitMap())
    return dict(rows_of_name)


def _rows_of_categories(own: Mapping[str, BitMap], categories: Sequence[CategoryRecord]) -> dict[str, BitMap]:
    """Return the rows by each category's key and name; a parent has its children's rows too."""
    rows_of_name: defaultdict[str, BitMap] = defaultdict(BitMap)
    for category in categories:
        names = {fold(category.key), fold(category.name)}
        keys = (category.key, *(c.key for c in categories if c.parent_key == category.key))
        rows = BitMap.union(BitMap(), *(own.get(key, BitMap()) for key in keys))
        for name in names:
            rows_of_name[name] |= rows
    return dict(rows_of_name)


def _shown_names(attributes: Sequence[AttributeRecord]) -> dict[str, str]:
    """Return the name that products show for each attribute's key. Attributes that share a name are shown by key."""
    uses = Counter(fold(a.name) for a in attributes)
    return {a.key: a.name if uses[fold(a.name)] == 1 else a.key for a in attributes}


def _tree(categories: Sequence[CategoryRecord]) -> list[Category]:
    children: defaultdict[str | None, list[CategoryRecord]] = defaultdict(list)
    for category in categories:
        children[category.parent_key].append(category)
    return [
        Category(top.key, top.name, [Category(c.key, c.name, None) for c in children[top.key]] or None)
        for top in children[None]
    ]
