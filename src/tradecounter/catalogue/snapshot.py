"""The catalogue snapshot: an immutable picture of all products, laid out for answering requests from memory.

Products stand in rows, sorted by SKU without case (then by SKU as spelled): a row's number is its place in that
order, so rows in ascending order are sorted by SKU. Prices and stock are kept beside it, by row (`storefront/`).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from tradecounter.catalogue.attributes import AttributeIndex, build_attribute_index
from tradecounter.catalogue.fragments import Fragments, build_fragments
from tradecounter.catalogue.records import CatalogueRecords, CategoryRecord, ManufacturerRecord, ProductRecord
from tradecounter.catalogue.search import SearchIndex, build_search_index
from tradecounter.catalogue.wire import Attribute, AttributeValue, Category, Manufacturer
from tradecounter.kit.digest import digest_of
from tradecounter.kit.text import fold
from tradecounter.rest.answers import to_json

Rows = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class CatalogueSnapshot:
    """All products in rows, with what finding, sorting and rendering them needs."""

    products: Sequence[ProductRecord]
    row_of_sku: dict[str, int]
    rows_of_ean: dict[str, list[int]]
    row_of_id: dict[int, int]
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
    digest: bytes

    def row(self, sku: str) -> int | None:
        """Return the row of an active product, or None; the SKU's case does not matter."""
        row = self.row_of_sku.get(fold(sku))
        return row if row is not None and row in self.active else None


def build_snapshot(records: CatalogueRecords) -> CatalogueSnapshot:
    """Lay out the catalogue; takes a moment, so not on the event loop."""
    products = sorted(records.products, key=lambda p: (fold(p.sku), p.sku))
    manufacturer_names = {m.key: m.name for m in records.manufacturers}
    rows_of_ean: defaultdict[str, list[int]] = defaultdict(list)
    for row, product in enumerate(products):
        if product.ean:
            rows_of_ean[product.ean].append(row)
    return CatalogueSnapshot(
        products=products,
        row_of_sku={fold(p.sku): row for row, p in enumerate(products)},
        rows_of_ean=dict(rows_of_ean),
        row_of_id={p.id: row for row, p in enumerate(products)},
        active=BitMap(row for row, p in enumerate(products) if p.active),
        clearance=BitMap(row for row, p in enumerate(products) if p.clearance_product),
        manufacturers=_rows_of_manufacturers(products, records.manufacturers),
        categories=_rows_of_categories(products, records.categories),
        attributes=build_attribute_index(records.attributes, products),
        search=build_search_index(products, manufacturer_names),
        name_rank=_name_rank(products),
        fragments=build_fragments(products),
        category_tree=_tree(records.categories),
        manufacturer_list=[
            Manufacturer(m.key, m.name) for m in sorted(records.manufacturers, key=lambda m: (fold(m.name), m.key))
        ],
        attribute_list=[
            Attribute(a.key, a.name, a.type, [AttributeValue(v["value"]) for v in a.possible_values])
            for a in sorted(records.attributes, key=lambda a: (fold(a.name), a.key))
        ],
        digest=digest_of(*map(to_json, (*products, records.categories, records.manufacturers, records.attributes))),
    )


def _name_rank(products: Sequence[ProductRecord]) -> NDArray[np.int32]:
    """Return each row's place when sorted by name without case, then by SKU."""
    by_name = sorted(range(len(products)), key=lambda row: (fold(products[row].name), row))
    rank = np.empty(len(products), dtype=np.int32)
    rank[by_name] = np.arange(len(products), dtype=np.int32)
    return rank


def _rows_of_manufacturers(
    products: Sequence[ProductRecord], manufacturers: Iterable[ManufacturerRecord]
) -> dict[str, BitMap]:
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for row, product in enumerate(products):
        rows[product.manufacturer].append(row)
    found: defaultdict[str, BitMap] = defaultdict(BitMap)
    for manufacturer in manufacturers:
        found[fold(manufacturer.key)] |= BitMap(rows[manufacturer.key])
    return dict(found)


def _rows_of_categories(products: Sequence[ProductRecord], categories: Sequence[CategoryRecord]) -> dict[str, BitMap]:
    """Return the rows by each category's key and name; a parent has its children's too."""
    own: defaultdict[str, BitMap] = defaultdict(BitMap)
    for row, product in enumerate(products):
        for key in product.categories:
            own[key].add(row)
    found: defaultdict[str, BitMap] = defaultdict(BitMap)
    for category in categories:
        names = {fold(category.key), fold(category.name)}
        children = (c.key for c in categories if c.parent_key == category.key)
        rows = BitMap.union(own[category.key], *(own[key] for key in children))
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
