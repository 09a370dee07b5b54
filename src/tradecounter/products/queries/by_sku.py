"""Finds a product by its SKU for the operator, active or not; suggests similar SKUs for an unknown SKU."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.pipeline import array
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.keys import key_form
from tradecounter.kit.text import joined_word, shown_name
from tradecounter.products.queries.importing import PRODUCT_VIEW
from tradecounter.products.queries.records import ProductRecord, read_products
from tradecounter.products.similar_skus import MOST_SUGGESTED, most_similar

_NEIGHBOURS = 50  # SKUs before and after the place of an unknown SKU
_CONTAINING = 20


class FoundProduct(Struct, frozen=True):
    """A product, and what customers do not see, such as what the reseller pays for a unit."""

    record: ProductRecord
    configurable: bool
    purchase_cost: Decimal | None
    external_id: str | None


_FIND_PRODUCTS = Statement("""
    select id, configurable, purchase_cost, external_id from product where sku_key = any(:sku_keys) order by sku_key
""")


async def fetch_product(tx: Transaction, sku: str) -> FoundProduct:
    """Return a product by its SKU, ignoring case. Raises DomainError (not found), which suggests similar SKUs."""
    found = await whole_products(tx, [key_form(sku)])
    if not found:
        raise await _unknown(tx, sku)
    return found[0]


async def whole_products(tx: Transaction, sku_keys: Sequence[str]) -> list[FoundProduct]:
    """Return the products with these folded SKUs, by SKU."""
    found = await tx.fetch_all(_FIND_PRODUCTS, sku_keys=list(sku_keys))
    records = await read_products(tx, [product_id for product_id, *_ in found], unreadable=[])
    return [FoundProduct(record, *hidden) for record, (_, *hidden) in zip(records, found, strict=True)]


_PRODUCT_ROWS = Statement(
    SQL("select v.key, v.row::text from ({}) v where v.key = any(:sku_keys)").format(SQL(PRODUCT_VIEW))
)
_decoder = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal)


async def find_product_row(tx: Transaction, sku_key: str) -> dict[str, Any] | None:
    """Return a product's fields as imports name them, or None. Numbers with a point are decimals."""
    return (await product_rows(tx, [sku_key])).get(sku_key)


async def product_rows(tx: Transaction, sku_keys: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the fields of the products with these folded SKUs, by folded SKU, as `find_product_row` does."""
    return {key: _decoder.decode(row) for key, row in await tx.fetch_all(_PRODUCT_ROWS, sku_keys=list(sku_keys))}


async def _unknown(tx: Transaction, sku: str) -> DomainError:
    similar = await _similar_skus(tx, sku.strip())
    hint = f"; did you mean {' or '.join(similar)}?" if similar else ""
    return DomainError(Kind.NOT_FOUND, f"product {shown_name(sku)} does not exist{hint}")


_PRODUCT_IDS = Statement("select sku_key, id, sku from product where sku_key = any(:sku_keys)")


async def find_product_ids(tx: Transaction, skus: Sequence[str]) -> list[tuple[int, str]]:
    """Return the id and the spelling of each SKU, in the given order, ignoring case.

    Raises DomainError (not found) for the first unknown SKU, as `fetch_product` does.
    """
    keys = [key_form(sku) for sku in skus]
    found = {key: (product_id, sku) for key, product_id, sku in await tx.fetch_all(_PRODUCT_IDS, sku_keys=keys)}
    for key, sku in zip(keys, skus, strict=True):
        if key not in found:
            raise await _unknown(tx, sku)
    return [found[key] for key in keys]


_WITH_EAN = Statement("select sku from product where ean = :ean order by id limit 1")


async def find_sku_with_ean(tx: Transaction, ean: str) -> str | None:
    """Return the SKU of the first product with an EAN, or None."""
    found: str | None = await tx.fetch_value(_WITH_EAN, ean=ean)
    return found


_PURCHASE_COSTS = Statement(
    "select id, purchase_cost from product where id = any(:ids::bigint[]) and purchase_cost is not null"
)


async def purchase_costs(tx: Transaction, product_ids: Iterable[int]) -> dict[int, Decimal]:
    """Return what the reseller pays for a unit of each product, where it is known. Customers never see it."""
    return dict(await tx.fetch_all(_PURCHASE_COSTS, ids=array(product_ids)))


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
