"""Lists products, active or not, finds one by its SKU, and suggests similar SKUs."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct
from psycopg.sql import SQL
from psycopg.sql import Literal as Constant

from tradecounter.db.statement import Statement, where
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import MOST_FIELD_ERRORS, Code, DomainError, FieldError, Kind, invalid_fields
from tradecounter.kit.keys import key_form
from tradecounter.kit.text import did_you_mean, fold, joined_word, shown_name
from tradecounter.products.queries.importing import PRODUCT_VIEW
from tradecounter.products.queries.records import ProductRecord, read_products
from tradecounter.products.search.query import MOST_SUGGESTED, most_similar

Shown = Literal[
    "sold",
    "not_sold",
    "out_of_stock",
    "back_ordered",
    "without_price",
    "below_cost",
    "without_picture",
    "without_description",
    "without_ean",
]
SHOWN: tuple[Shown, ...] = get_args(Shown)
TO_MEND: tuple[Shown, ...] = (
    "below_cost",
    "back_ordered",
    "without_price",
    "without_picture",
    "without_description",
    "without_ean",
)


class ProductSummary(Struct, frozen=True):
    """A product in a list of the back office."""

    sku: str
    sku_key: str
    name: str
    manufacturer: str
    ean: str | None
    active: bool
    external_id: str | None


class ProductFilter(Struct, frozen=True, kw_only=True):
    """A filter of products; None matches all.

    All but `sold`, `not_sold` and `back_ordered` are products that are sold. `without_price` are on no price list,
    `below_cost` have a price in a list that is lower than their purchase cost.
    `manufacturer` and `category` are a key or a name, ignoring case as the database does; a category includes those
    below it.
    `containing` is a part of the SKU; `sku_keys` are folded SKUs.
    """

    manufacturer: str | None = None
    category: str | None = None
    show: Shown | None = None
    external_id: str | None = None
    changed_since: datetime | None = None
    containing: str | None = None
    sku_keys: list[str] | None = None


_LISTED = SQL("select p.sku, p.sku_key, p.name, p.manufacturer, p.ean, p.active, p.external_id from product p where {}")
_PRODUCTS_NAMED = Statement(
    _LISTED.format(SQL('p.sku_key = any(:sku_keys) order by p.sku_key collate "C"')), ProductSummary
)
_AFTER = SQL("p.sku_key > :after")
_CONDITIONS = {
    "manufacturer": SQL(
        "p.manufacturer in (select key from manufacturer where lower(:manufacturer) in (lower(key), lower(name)))"
    ),
    "category": SQL("""
        p.categories ?| array(
            select c.key from category c left join category top on top.key = c.parent_key
            where lower(:category) in (lower(c.key), lower(c.name), lower(top.key), lower(top.name)))
    """),
    "external_id": SQL("p.external_id = :external_id"),
    "changed_since": SQL("p.changed_at >= :changed_since"),
    "containing": SQL("position(:containing in p.sku_key) > 0"),
    "sku_keys": SQL("p.sku_key = any(:sku_keys)"),
}
_SHOWN: dict[Shown, SQL] = {
    "sold": SQL("p.active"),
    "not_sold": SQL("not p.active"),
    "out_of_stock": SQL(
        "p.active and not exists (select from stock_level s where s.product_id = p.id and s.available > 0)"
    ),
    # Of lines, whose index has these only; the levels of stock have the same sums, but would all be read.
    "back_ordered": SQL("p.id in (select l.product_id from order_line l where l.back_ordered > 0)"),
    "without_price": SQL("p.active and p.id in (select w.product_id from product_without_price w)"),
    "below_cost": SQL("p.active and p.id in (select b.product_id from product_below_cost b)"),
    "without_picture": SQL("p.active and p.images = '[]'"),
    "without_description": SQL("p.active and p.description = '' and p.description_html = ''"),
    "without_ean": SQL("p.active and p.ean is null"),
}
MOST_TO_MEND = 10_000
_COUNT = SQL("select {name}, (select count(*) from (select from product p where {condition} limit {most}) as c)")
_TO_MEND = Statement(
    SQL(" union all ").join(
        _COUNT.format(name=Constant(shown), condition=_SHOWN[shown], most=Constant(MOST_TO_MEND)) for shown in TO_MEND
    )
)


async def count_products_to_mend(tx: Transaction) -> dict[Shown, int]:
    """Return how many products want each kind of work, each up to MOST_TO_MEND."""
    return dict(await tx.fetch_all(_TO_MEND))


async def products_named(tx: Transaction, sku_keys: Sequence[str]) -> list[ProductSummary]:
    """Return the products with these folded SKUs, by the bytes of the SKU, as the catalogue in memory has them."""
    return await tx.fetch_all(_PRODUCTS_NAMED, sku_keys=list(sku_keys))


async def products_after(tx: Transaction, after: str, most: int, wanted: ProductFilter) -> list[ProductSummary]:
    """Return the first products with a greater SKU that match a filter, by SKU."""
    shown = [] if wanted.show is None else [_SHOWN[wanted.show]]
    conditions, values = where(wanted, _CONDITIONS, _AFTER, *shown)
    folded = {} if wanted.containing is None else {"containing": fold(wanted.containing)}
    sql = _LISTED.format(SQL("{} order by p.sku_key limit :most").format(conditions))
    statement = Statement(sql, ProductSummary)
    return await tx.fetch_all(statement, **values | folded, after=after, most=most)


_NEIGHBOURS = 50  # SKUs before and after the place of an unknown SKU
_CONTAINING = 20


class FoundProduct(Struct, frozen=True):
    """A product, and what customers do not see, such as what the reseller pays for a unit."""

    record: ProductRecord
    configurable: bool
    purchase_cost: Decimal | None
    external_id: str | None


_FIND_PRODUCTS = Statement("""
    select id, configurable, purchase_cost, external_id
    from unnest(:sku_keys::text[]) with ordinality as wanted (sku_key, place) join product using (sku_key)
    order by place
""")


async def fetch_product(tx: Transaction, sku: str) -> FoundProduct:
    """Return a product by its SKU, ignoring case. Raises DomainError (not found), which suggests similar SKUs."""
    products = await whole_products(tx, [key_form(sku)])
    if not products:
        raise await _unknown(tx, sku)
    return products[0]


async def whole_products(tx: Transaction, sku_keys: Sequence[str]) -> list[FoundProduct]:
    """Return the products with these folded SKUs, in the given order; those that do not exist are left out."""
    rows = await tx.fetch_all(_FIND_PRODUCTS, sku_keys=list(sku_keys))
    records = await read_products(tx, [product_id for product_id, *_ in rows], unreadable=[])
    return [FoundProduct(record, *hidden) for record, (_, *hidden) in zip(records, rows, strict=True)]


_PRODUCT_ROWS = Statement(
    SQL("select v.key, v.row::text from ({}) v where v.key = any(:sku_keys)").format(SQL(PRODUCT_VIEW))
)
_decoder = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal)


async def find_product_row(tx: Transaction, sku_key: str) -> dict[str, Any] | None:
    """Return a product's fields as imports name them, or None. Numbers with a point are decimals."""
    return (await _product_rows(tx, [sku_key])).get(sku_key)


async def _product_rows(tx: Transaction, sku_keys: Sequence[str]) -> dict[str, dict[str, Any]]:
    return {key: _decoder.decode(row) for key, row in await tx.fetch_all(_PRODUCT_ROWS, sku_keys=list(sku_keys))}


async def _unknown(tx: Transaction, sku: str) -> DomainError:
    hint = did_you_mean(await _similar_skus(tx, sku.strip()))
    return DomainError(Kind.NOT_FOUND, f"product {shown_name(sku)} does not exist{hint}")


async def fetch_product_rows(tx: Transaction, skus: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the fields of products by folded SKU, as `find_product_row` does. Raises DomainError (not found)."""
    sku_of_key = {key_form(sku): sku for sku in skus}
    found = await _product_rows(tx, list(sku_of_key))
    for key, sku in sku_of_key.items():
        if key not in found:
            raise await _unknown(tx, sku)
    return found


_PRODUCT_IDS = Statement("select sku_key, id, sku from product where sku_key = any(:sku_keys)")


async def find_product_ids(tx: Transaction, skus: Sequence[str]) -> list[tuple[int, str]]:
    """Return the id and the spelling of each SKU, in the given order, ignoring case.

    Raises DomainError (invalid), which names unknown SKUs by their places in `items`.
    """
    keys = [key_form(sku) for sku in skus]
    product_of_key = {
        key: (product_id, sku) for key, product_id, sku in await tx.fetch_all(_PRODUCT_IDS, sku_keys=keys)
    }
    unknown = [(n, sku) for n, (key, sku) in enumerate(zip(keys, skus, strict=True)) if key not in product_of_key]
    if unknown:
        raise invalid_fields(
            [
                FieldError(f"items[{n}].sku", (await _unknown(tx, sku)).message, Code.UNKNOWN_SKU)
                for n, sku in unknown[:MOST_FIELD_ERRORS]
            ]
        )
    return [product_of_key[key] for key in keys]


_WITH_EAN = Statement("select sku from product where ean = :ean order by id limit 1")


async def find_sku_with_ean(tx: Transaction, ean: str) -> str | None:
    """Return the SKU of the first product with an EAN, or None."""
    sku: str | None = await tx.find_value(_WITH_EAN, ean=ean)
    return sku


_PURCHASE_COSTS = Statement(
    "select id, purchase_cost from product where id = any(:ids::bigint[]) and purchase_cost is not null"
)


async def purchase_costs(tx: Transaction, product_ids: Iterable[int]) -> dict[int, Decimal]:
    """Return what the reseller pays for a unit of each product, where it is known. Customers never see it."""
    return dict(await tx.fetch_all(_PURCHASE_COSTS, ids=list(product_ids)))


_SIMILAR_SKUS = Statement("""
    (select sku, sku_key, false from product where sku_key >= :key order by sku_key limit :neighbours)
    union all
    (select sku, sku_key, false from product where sku_key < :key order by sku_key desc limit :neighbours)
    union all
    (select sku, sku_key, true from product
     where :word <> '' and position(:word in regexp_replace(sku_key, '[^[:alnum:]]', '', 'g')) > 0
     order by sku_key limit :containing)
""")


async def _similar_skus(tx: Transaction, sku: str) -> list[str]:
    """Return the most similar SKUs, then others that contain the letters and digits of `sku`."""
    key, word = key_form(sku), joined_word(sku)
    rows = await tx.fetch_all(_SIMILAR_SKUS, key=key, word=word, neighbours=_NEIGHBOURS, containing=_CONTAINING)
    similar = most_similar(sku, (spelling for spelling, _, _ in rows))
    containing = [spelling for spelling, _, contains in rows if contains]
    return list(dict.fromkeys([*similar, *containing]))[:MOST_SUGGESTED]
