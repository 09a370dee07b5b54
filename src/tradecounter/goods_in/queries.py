"""Reads expected deliveries and the places of products, and stores what of a delivery is still to come."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tradecounter.db.changes import bump
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class ExpectedGoods:
    """Units of a product on a delivery; `back_ordered` units of it are awaited by orders."""

    product_id: int
    sku: str
    name: str
    location: str
    expected_on: datetime
    incoming: int
    back_ordered: int


@dataclass(frozen=True, slots=True)
class Shelved:
    """A product in the warehouse, and how many units should be there."""

    id: int
    sku: str
    name: str
    location: str
    on_hand: int


_EXPECTED = Statement(
    """
    select p.id as product_id, p.sku, p.name, coalesce(s.location, '') as location, i.expected_on, i.incoming,
           coalesce(s.back_ordered, 0) as back_ordered
    from incoming_stock i join product p on p.id = i.product_id left join stock_level s on s.product_id = p.id
    where :key = '' or p.sku_key = :key or p.ean = :key or position(:key in lower(p.sku || ' ' || p.name)) > 0
    order by i.expected_on, p.sku_key limit :most
    """,
    ExpectedGoods,
)
_LOCK = Statement(
    """
    select p.id as product_id, p.sku, p.name, '' as location, i.expected_on, i.incoming, 0 as back_ordered
    from incoming_stock i join product p on p.id = i.product_id
    where p.sku_key = :sku_key and i.expected_on = :expected_on
    for update of i
    """,
    ExpectedGoods,
)
_STORE = Statement("""
    update incoming_stock set incoming = :units where product_id = :product_id and expected_on = :expected_on
""")
_DELETE = Statement("delete from incoming_stock where product_id = :product_id and expected_on = :expected_on")
_SHELVED = Statement(
    """
    select p.id, p.sku, p.name, s.location, s.available + s.allocated as on_hand
    from stock_level s join product p on p.id = s.product_id
    where (p.active or s.available + s.allocated > 0)
      and (:place = '' or starts_with(lower(s.location), :place))
      and (:key = '' or position(:key in lower(p.sku || ' ' || p.name)) > 0)
      and (s.location, p.id) > (:after_place, :after_id::bigint)
    order by s.location, p.id limit :most
    """,
    Shelved,
)


async def expected_goods(tx: Transaction, key: str, most: int) -> list[ExpectedGoods]:
    """Return expected deliveries, the next first. `key` is a part of a SKU or a name, or an EAN; empty for all."""
    return await tx.fetch_all(_EXPECTED, key=key, most=most)


async def lock_delivery(tx: Transaction, sku_key: str, expected_on: datetime) -> ExpectedGoods | None:
    """Return the delivery of a product that is expected at a moment, or None. Locks it until the transaction ends."""
    return await tx.fetch_one(_LOCK, sku_key=sku_key, expected_on=expected_on)


async def store_rest(tx: Transaction, delivery: ExpectedGoods, units: int) -> None:
    """Store how many units of a delivery are still to come; 0 ends it."""
    named = {"product_id": delivery.product_id, "expected_on": delivery.expected_on}
    if units:
        await tx.execute(_STORE, units=units, **named)
    else:
        await tx.execute(_DELETE, **named)
    await bump(tx, "deliveries")


async def shelved_products(
    tx: Transaction, place: str, key: str, most: int, after: tuple[str, int] | None
) -> Sequence[Shelved]:
    """Return products in the order of their places; `place` is the beginning of one, `key` a part of SKU or name."""
    after_place, after_id = after or ("", 0)
    return await tx.fetch_all(_SHELVED, place=place, key=key, most=most, after_place=after_place, after_id=after_id)
