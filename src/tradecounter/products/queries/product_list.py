"""Lists products for the operator, active or not, by SKU and with filters."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal, get_args

from msgspec import Struct
from psycopg.sql import SQL, Composed
from psycopg.sql import Literal as Constant

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.text import fold

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


class ListedProduct(Struct, frozen=True):
    """A product in a list for the operator."""

    sku: str
    sku_key: str
    name: str
    manufacturer: str
    ean: str | None
    active: bool
    external_id: str | None


class ProductFilter(Struct, frozen=True):
    """A filter of products; None matches all.

    All but `sold`, `not_sold` and `back_ordered` are products that are sold. `without_price` are on no price list,
    `below_cost` have a price in a list that is lower than their purchase cost.
    `manufacturer` and `category` are a key or a name, ignoring case; a category includes those below it.
    """

    manufacturer: str | None = None
    show: Shown | None = None
    external_id: str | None = None
    changed_since: datetime | None = None
    category: str | None = None


_LISTED = SQL("select p.sku, p.sku_key, p.name, p.manufacturer, p.ean, p.active, p.external_id from product p where {}")
_PRODUCTS_NAMED = Statement(_LISTED.format(SQL("p.sku_key = any(:sku_keys) order by p.sku_key")), ListedProduct)
_AFTER = SQL("p.sku_key > :after")
_KEYS = SQL("p.sku_key = any(:sku_keys)")
_CONTAINS = SQL("position(:text in p.sku_key) > 0")
_MANUFACTURER = SQL("p.manufacturer in (select key from manufacturer where :manufacturer in (lower(key), lower(name)))")
_CATEGORY = SQL("""
    p.categories ?| array(
        select c.key from category c left join category top on top.key = c.parent_key
        where :category in (lower(c.key), lower(c.name), lower(top.key), lower(top.name)))
""")
_EXTERNAL_ID = SQL("p.external_id = :external_id")
_CHANGED = SQL("p.changed_at >= :changed_since")
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


async def products_named(tx: Transaction, sku_keys: Sequence[str]) -> list[ListedProduct]:
    """Return the products with these folded SKUs, by SKU."""
    return await tx.fetch_all(_PRODUCTS_NAMED, sku_keys=list(sku_keys))


async def products_after(
    tx: Transaction,
    after: str,
    most: int,
    wanted: ProductFilter,
    *,
    sku_keys: Sequence[str] | None = None,
    containing: str | None = None,
) -> list[ListedProduct]:
    """Return the first products with a greater SKU that match a filter, by SKU.

    With `sku_keys`, only those with these folded SKUs; with `containing`, only those whose SKU contains this text.
    """
    conditions = SQL(" and ").join(_conditions(wanted, sku_keys, containing))
    statement = Statement(
        _LISTED.format(SQL("{} order by p.sku_key limit :most").format(conditions)), ListedProduct, prepared=False
    )
    values = {
        "after": after,
        "most": most,
        "sku_keys": list(sku_keys or ()),
        "text": fold(containing or ""),
        "manufacturer": (wanted.manufacturer or "").lower(),
        "category": (wanted.category or "").lower(),
        "external_id": wanted.external_id,
        "changed_since": wanted.changed_since,
    }
    return await tx.fetch_all(statement, **{name: values[name] for name in statement.names})


def _conditions(
    wanted: ProductFilter, sku_keys: Sequence[str] | None, containing: str | None
) -> Iterator[SQL | Composed]:
    yield _AFTER
    if sku_keys is not None:
        yield _KEYS
    if containing is not None:
        yield _CONTAINS
    if wanted.manufacturer is not None:
        yield _MANUFACTURER
    if wanted.category is not None:
        yield _CATEGORY
    if wanted.external_id is not None:
        yield _EXTERNAL_ID
    if wanted.changed_since is not None:
        yield _CHANGED
    if wanted.show is not None:
        yield _SHOWN[wanted.show]
