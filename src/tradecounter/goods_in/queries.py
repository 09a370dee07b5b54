"""Reads expected deliveries and the places of products, and stores what of a delivery is still to come."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from tradecounter.db.changes import bump
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.keys import key_form
from tradecounter.products.on_pages import Scanned


class ExpectedGoods(Scanned, Struct, frozen=True):
    """Units of a product on a delivery; `back_ordered` units of it are awaited by orders."""

    product_id: int
    sku: str
    ean: str | None
    name: str
    location: str
    expected_on: datetime
    incoming: int
    back_ordered: int


class ProductDelivery(Struct, frozen=True):
    """Units of a product that are still to come on a delivery."""

    product_id: int
    sku: str
    expected_on: datetime
    incoming: int


class Shelved(Struct, frozen=True):
    """A product in the warehouse, and how many units should be there."""

    id: int
    sku: str
    name: str
    location: str
    on_hand: int


_EXPECTED = Statement(
    """
    select p.id as product_id, p.sku, p.ean, p.name, coalesce(s.location, '') as location, i.expected_on, i.incoming,
           coalesce(s.back_ordered, 0) as back_ordered
    from incoming_stock i join product p on p.id = i.product_id left join stock_level s on s.product_id = p.id
    where :key = '' or p.sku_key = :key or p.ean = :key or position(:key in lower(p.sku || ' ' || p.name)) > 0
    order by i.expected_on, p.sku_key limit :most
    """,
    ExpectedGoods,
)
_LOCK_TABLE = Statement("lock table incoming_stock in row exclusive mode")
_LOCK = Statement(
    """
    select p.id as product_id, p.sku, i.expected_on, i.incoming
    from unnest(:sku_keys::text[], :moments::timestamptz[]) as n (sku_key, expected_on)
    join product p on p.sku_key = n.sku_key
    join incoming_stock i on i.product_id = p.id and i.expected_on = n.expected_on
    order by p.id, i.expected_on for update of i
    """,
    ProductDelivery,
)
_STORE = Statement("""
    merge into incoming_stock i
    using unnest(:product_ids::bigint[], :moments::timestamptz[], :units::int[]) as n (product_id, expected_on, units)
       on i.product_id = n.product_id and i.expected_on = n.expected_on
    when matched and n.units = 0 then delete
    when matched then update set incoming = n.units
""")
_NAMED = Statement("""
    select distinct on (place) place, id, sku from (
        select n.place, 0 as rank, p.id, p.sku
        from unnest(:keys::text[]) with ordinality as n (key, place) join product p on p.sku_key = n.key
        union all
        select n.place, 1, p.id, p.sku
        from unnest(:names::text[]) with ordinality as n (name, place) join product p on p.ean = n.name
    ) as found order by place, rank, id
""")
_SHELVED = Statement(
    """
    select p.id, p.sku, p.name, s.location, s.available + s.allocated as on_hand
    from stock_level s join product p on p.id = s.product_id
    where (p.active or s.available + s.allocated > 0)
      and (:place = '' or starts_with(lower(s.location), :place))
      and (:key = '' or position(:key in lower(p.sku || ' ' || p.name)) > 0)
      and (s.location, s.product_id) > (:after_place, :after_id::bigint)
    order by s.location, s.product_id limit :most
    """,
    Shelved,
)


async def expected_goods(tx: Transaction, key: str, most: int) -> list[ExpectedGoods]:
    """Return expected deliveries, the next first. `key` is a part of a SKU or a name, or an EAN; empty for all."""
    return await tx.fetch_all(_EXPECTED, key=key, most=most)


async def lock_deliveries(
    tx: Transaction, places: Collection[tuple[str, datetime]]
) -> dict[tuple[str, datetime], ProductDelivery]:
    """Return the deliveries with these SKU keys and moments, as far as they are expected.

    They are locked in the order of the products until the transaction ends. An import of deliveries waits until then.
    """
    await tx.execute(_LOCK_TABLE)  # before a row: an import that holds the table would wait for the row
    keys, moments = [key for key, _ in places], [moment for _, moment in places]
    rows = await tx.fetch_all(_LOCK, sku_keys=keys, moments=moments)
    return {(key_form(delivery.sku), delivery.expected_on): delivery for delivery in rows}


async def store_rests(tx: Transaction, rests: Mapping[ProductDelivery, int]) -> None:
    """Store how many units of deliveries are still to come; 0 ends a delivery."""
    await tx.execute(
        _STORE,
        product_ids=[delivery.product_id for delivery in rests],
        moments=[delivery.expected_on for delivery in rests],
        units=list(rests.values()),
    )
    await bump(tx, "deliveries")


async def products_named(tx: Transaction, names: Sequence[str]) -> dict[str, tuple[int, str]]:
    """Return the id and the SKU of the product of each name, which is a SKU in any case, or an EAN."""
    rows = await tx.fetch_all(_NAMED, keys=[key_form(name) for name in names], names=list(names))
    return {names[place - 1]: (product_id, sku) for place, product_id, sku in rows}


async def shelved_products(
    tx: Transaction, place: str, key: str, most: int, after: tuple[str, int] | None
) -> Sequence[Shelved]:
    """Return products in the order of their places; `place` is the beginning of one, `key` a part of SKU or name."""
    after_place, after_id = after or ("", 0)
    return await tx.fetch_all(_SHELVED, place=place, key=key, most=most, after_place=after_place, after_id=after_id)
