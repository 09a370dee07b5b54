"""Finding a product by its SKU for the operator, whether it is active or not, and what was meant by an unknown SKU."""

from dataclasses import dataclass

from tradecounter.catalogue.queries.records import ProductRecord, read_products
from tradecounter.catalogue.similar_skus import MOST_SUGGESTED, most_similar
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.text import fold, joined_word

_NEIGHBOURS = 50  # SKUs on either side of where an unknown one would stand in order
_CONTAINING = 20


@dataclass(frozen=True, slots=True)
class FoundProduct:
    """A product and what no customer sees of it."""

    record: ProductRecord
    configurable: bool


@dataclass(frozen=True, slots=True)
class _Found:
    id: int
    configurable: bool


_FIND_PRODUCT = Statement("select id, configurable from product where sku_key = :sku_key", _Found)


async def find_product(tx: Transaction, sku: str) -> FoundProduct:
    """Return a product by its SKU, in any case. Raises DomainError (not found), with the SKUs that are most similar."""
    found = await tx.fetch_one(_FIND_PRODUCT, sku_key=fold(sku.strip()))
    if found is None:
        similar = await _similar_skus(tx, sku.strip())
        hint = f"; did you mean {' or '.join(similar)}?" if similar else ""
        raise DomainError(Kind.NOT_FOUND, f"there is no product {sku}{hint}")
    [record] = await read_products(tx, [found.id], unreadable=[])
    return FoundProduct(record, found.configurable)


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
    """Return the SKUs that are most similar to one, or else some that contain its letters and digits."""
    key, word = fold(sku), joined_word(sku)
    rows = await tx.fetch_all(_SIMILAR_SKUS, key=key, word=word, neighbours=_NEIGHBOURS, containing=_CONTAINING)
    similar = most_similar(sku, (spelling for spelling, _, _ in rows))
    containing = [spelling for spelling, _, contains in rows if contains]
    return list(dict.fromkeys([*similar, *containing]))[:MOST_SUGGESTED]
