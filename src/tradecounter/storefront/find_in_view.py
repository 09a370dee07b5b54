"""Finds and sorts products in memory by the query parameters of the product endpoints (specification, section 4)."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Annotated, Literal, get_args

import numpy as np
from msgspec import Meta, Struct
from msgspec.structs import replace
from numpy.typing import NDArray
from pyroaring import BitMap

from tradecounter.edge.rest.negotiation import Accept
from tradecounter.edge.rest.paging import PageLimit, PageNumber
from tradecounter.edge.rest.parameters import Flag
from tradecounter.kit.columns.lookups import rows_of
from tradecounter.kit.errors import invalid
from tradecounter.kit.keys import key_form
from tradecounter.kit.text import is_blank, trimmed
from tradecounter.products.search.query import FoundRows, search
from tradecounter.storefront.view import CustomerView

MOST_SKUS = 200  # so that their links fit into the head of a response

Extra = Literal["description", "description_html", "short_description", "related", "similar"]
Sort = Literal["price", "availability", "sku", "name"]

Extras = Annotated[
    tuple[Annotated[str, Meta(extra_json_schema={"enum": list(get_args(Extra))})], ...],
    Meta(
        description="Fields to add: description, description_html, short_description, related, similar.",
        examples=["description,related"],
    ),
]


class ProductListParameters(Struct, rename={"in_stock": "inStock"}, frozen=True):
    """Query parameters of `GET /product`. Any value of a list may match; all parameters must."""

    sku: Annotated[
        tuple[str, ...],
        Meta(
            description=f"SKUs, at most {MOST_SKUS}; case does not matter. `X-Unknown-Sku` names those that you cannot "
            "buy.",
            examples=["CV-445G-R,CV-560G-R"],
        ),
    ] = ()
    manufacturer: Annotated[
        tuple[str, ...], Meta(description="Manufacturer keys.", examples=["corvane,fernquist"])
    ] = ()
    category: Annotated[
        tuple[str, ...],
        Meta(description="Category names or keys; a parent includes its children.", examples=["ip-phones"]),
    ] = ()
    query: Annotated[
        Annotated[str, Meta(max_length=500)] | None,
        Meta(
            description="Words. A product must have all of them, or words that begin so, in its SKU, EAN, name, "
            "manufacturer, categories, attributes' values or descriptions. Case, accents, punctuation and plurals do "
            "not matter. A mistyped word is corrected; `X-Corrected` says so. Without `sort`, the most relevant "
            "products come first.",
            examples=["ip phone"],
        ),
    ] = None
    attribute: Annotated[
        tuple[str, ...],
        Meta(
            description="Filters `name<op>value`, with = or, for numbers, also <, >, <=, >=. "
            "`GET /attribute` lists names and types.",
            examples=["ports>=2,poe=true"],
        ),
    ] = ()
    reduced: Annotated[
        Flag | None, Meta(description="`true`: only reduced products; `false`: no reduced products.", examples=["true"])
    ] = None
    clearance: Annotated[Flag | None, Meta(description="Another name for `reduced`.", examples=["true"])] = None
    in_stock: Annotated[Flag | None, Meta(description="`true`: only products in stock.", examples=["true"])] = None
    sort: Annotated[
        Sort | None,
        Meta(
            description="`price`, `sku` and `name` sort ascending, `availability` descending. Ties are sorted by SKU.",
            examples=["price"],
        ),
    ] = None
    extra: Extras = ()
    accept: Accept = None
    page: PageNumber | None = None
    limit: PageLimit | None = None


class ProductParameters(Struct, frozen=True):
    """Query parameters of `GET /product/{sku}`."""

    extra: Extras = ()


Rows = NDArray[np.int32]
_ROW_BITS = 32


class FoundProducts(Struct, frozen=True):
    """Matching rows in the requested order; only slices are ever sorted.

    Rows are ordered by the values that `key` returns, for some rows or for all of the snapshot, or are those of one
    tier after the other; rows that are equal are in order of SKU. `corrected` has the words of the search that were
    read as others.
    """

    rows: BitMap
    key: Callable[[Rows | slice], NDArray[np.signedinteger]] | None = None
    tiers: Callable[[], Iterable[BitMap]] | None = None
    searched: BitMap | None = None  # what the words find without the filters
    corrected: tuple[tuple[str, str], ...] = ()
    note: str = ""  # what a page says of them
    unknown: tuple[str, ...] = ()  # the SKUs of the request that the customer cannot buy

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, part: slice) -> Rows:
        """Return a slice of the sorted rows, in a time that hardly depends on their number."""
        start, end, _ = part.indices(len(self))
        if start >= end:
            return np.empty(0, dtype=np.int32)
        if self.tiers is not None:
            return self._of_tiers(self.tiers(), start, end)
        if self.key is None:
            return rows_of(self.rows[start:end])
        return self._sorted(self.key, start, end)

    @staticmethod
    def _of_tiers(tiers: Iterable[BitMap], start: int, end: int) -> Rows:
        parts, passed = [], 0
        for tier in tiers:
            parts.append(rows_of(tier[max(start - passed, 0) : max(end - passed, 0)]))
            passed += len(tier)
            if passed >= end:
                break
        return np.concatenate(parts)

    def _sorted(self, key: Callable[[Rows | slice], NDArray[np.signedinteger]], start: int, end: int) -> Rows:
        rows, keys = self._keyed(key)
        if end < len(keys):  # drop rows after the slice, except those with the key of its last row
            near = np.flatnonzero(keys <= np.partition(keys, end - 1)[end - 1])
            rows, keys = near.astype(np.int32) if rows is None else rows[near], keys[near]
        elif rows is None:
            rows = np.arange(len(keys), dtype=np.int32)
        # Sorting numbers that combine key and row sorts by key, then by SKU.
        keyed = (keys.astype(np.int64) << _ROW_BITS) | rows
        if end < len(keyed):
            keyed = np.partition(keyed, end - 1)[:end]
        ordered: Rows = (np.sort(keyed)[start:end] & (2**_ROW_BITS - 1)).astype(np.int32)
        return ordered

    def _keyed(
        self, key: Callable[[Rows | slice], NDArray[np.signedinteger]]
    ) -> tuple[Rows | None, NDArray[np.signedinteger]]:
        """Return the rows with their keys; None with the keys of all rows, of which the others' come after all."""
        everything = key(slice(None))
        others = BitMap(range(len(everything))) - self.rows if 2 * len(self) > len(everything) else None
        if others is None:
            rows = rows_of(self.rows)
            return rows, key(rows)
        if others:
            everything = everything.copy()
            everything[rows_of(others)] = np.iinfo(everything.dtype).max
        return None, everything


def find_products(view: CustomerView, parameters: ProductListParameters, within: BitMap | None = None) -> FoundProducts:
    """Return the rows that match, in the requested order; with `within`, only those of these rows.

    Raises DomainError (invalid) for contradictory filters.
    """
    named = _rows_of_skus(view, parameters.sku) if parameters.sku else None
    rows = _matching(view, parameters, None if named is None else named.rows)
    if within is not None:
        rows &= within
    searched = None
    if parameters.query is not None and not is_blank(parameters.query):
        searched = search(view.snapshot.search, parameters.query, view.visible)
        rows &= searched.rows
    products = FoundProducts(rows, unknown=() if named is None else named.unknown)
    if searched is not None:
        products = replace(products, searched=searched.rows, corrected=searched.corrected, note=searched.note)
    match parameters.sort:
        case "price":
            return replace(products, key=view.prices.single_costs)
        case "availability":
            return replace(products, key=lambda rows: view.stock.most_first[rows])
        case "name":
            return replace(products, key=lambda rows: view.snapshot.name_rank[rows])
        case None if searched is not None:
            return replace(products, tiers=lambda: _tiers(view, rows, parameters.query or "", searched))
    return products


def _tiers(view: CustomerView, rows: BitMap, query: str, searched: FoundRows) -> Iterator[BitMap]:
    """Yield the product whose SKU equals the query, those whose EAN does, then others by relevance and stock."""
    seen = BitMap()
    for tier in chain(view.snapshot.named(query), searched.tiers()):
        new = (tier & rows) - seen
        seen |= new
        in_stock = new & view.stock.in_stock
        yield in_stock
        yield new - in_stock


def matching(view: CustomerView, parameters: ProductListParameters) -> BitMap:
    """Return the rows that pass the filters, without the search, as a bitmap that may be changed.

    Raises DomainError (invalid) for contradictory filters and for too many SKUs.
    """
    return _matching(view, parameters, _rows_of_skus(view, parameters.sku).rows if parameters.sku else None)


def _matching(view: CustomerView, parameters: ProductListParameters, named: BitMap | None) -> BitMap:
    """Return the rows that pass the filters; of these, only `named` unless that is None."""
    snapshot = view.snapshot
    matches = view.visible.copy()
    if named is not None:
        matches &= named
    if parameters.manufacturer:
        matches &= _any_of(snapshot.manufacturers, parameters.manufacturer)
    if parameters.category:
        matches &= _any_of(snapshot.categories, parameters.category)
    if (rows := snapshot.attributes.find(parameters.attribute)) is not None:
        matches &= rows
    reduced = _reduced(parameters)
    if reduced is not None:
        matches = matches & snapshot.clearance if reduced else matches - snapshot.clearance
    if parameters.in_stock == "true":
        matches &= view.stock.in_stock
    return matches


class _Named(Struct, frozen=True):
    """The rows of a request's SKUs, and those SKUs that the customer cannot buy."""

    rows: BitMap
    unknown: tuple[str, ...]


def _rows_of_skus(view: CustomerView, skus: tuple[str, ...]) -> _Named:
    rows, unknown = BitMap(), dict[str, str]()
    # As with other lists, an encoded comma separates SKUs unless a SKU contains it.
    named = [part for sku in skus for part in ([sku] if "," not in sku or view.find(sku) else sku.split(","))]
    if len(named) > MOST_SKUS:
        raise invalid("sku", f"must have at most {MOST_SKUS} SKUs, not {len(named)}: send several requests")
    for sku in filter(None, map(trimmed, named)):
        if (product := view.find(sku)) is not None:
            rows.add(product[0])
        else:
            unknown.setdefault(key_form(sku), sku)
    return _Named(rows, tuple(unknown.values()))


def _any_of(rows_of_name: dict[str, BitMap], names: tuple[str, ...]) -> BitMap:
    rows = BitMap()
    for name in names:
        # Most HTTP libraries encode the commas of a list, so a comma separates names unless a name contains it.
        parts = [name] if key_form(name) in rows_of_name else name.split(",")
        rows |= BitMap.union(*(rows_of_name.get(key_form(part), BitMap()) for part in parts))
    return rows


def _reduced(parameters: ProductListParameters) -> bool | None:
    values = {parameters.reduced, parameters.clearance} - {None}
    if len(values) > 1:
        raise invalid("reduced", "contradicts clearance, another name for it: send only one of them")
    return values.pop() == "true" if values else None
