"""The stock of one product, for the operator."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.stock.rules import Delivery


class StockLevel(Struct, frozen=True):
    """A product's units: for sale, allocated to orders, and back-ordered; its place in the warehouse, if known."""

    available: int = 0
    allocated: int = 0
    back_ordered: int = 0
    location: str = ""

    @property
    def on_hand(self) -> int:
        """The units in the warehouse."""
        return self.available + self.allocated


_STOCK_LEVEL_OF = Statement(
    "select available, allocated, back_ordered, location from stock_level where product_id = :product_id", StockLevel
)


async def stock_level_of(tx: Transaction, product_id: int) -> StockLevel:
    """Return a product's stock level; zeros for a product that never had stock."""
    return await tx.fetch_one(_STOCK_LEVEL_OF, product_id=product_id) or StockLevel()


_STOCK_LEVELS_OF = Statement("""
    select p.sku_key, s.available, s.allocated, s.back_ordered, s.location
    from stock_level s join product p on p.id = s.product_id where p.sku_key = any(:sku_keys)
""")


async def stock_levels_of(tx: Transaction, sku_keys: Sequence[str]) -> dict[str, StockLevel]:
    """Return the stock levels of products by the keys of their SKUs; a product that never had stock is missing."""
    rows = await tx.fetch_all(_STOCK_LEVELS_OF, sku_keys=list(sku_keys))
    return {sku_key: StockLevel(*units) for sku_key, *units in rows}


class ShelfLabel(Struct, frozen=True):
    """Where a product is in the warehouse, if known, and the EAN on it, if any."""

    location: str = ""
    ean: str | None = None


_SHELF_LABELS_OF = Statement("""
    select p.id, coalesce(s.location, ''), p.ean from product p left join stock_level s on s.product_id = p.id
    where p.id = any(:product_ids::bigint[])
""")


async def shelf_labels_of(tx: Transaction, product_ids: Sequence[int]) -> dict[int, ShelfLabel]:
    """Return where products are in the warehouse, and what is printed on them, by product id."""
    rows = await tx.fetch_all(_SHELF_LABELS_OF, product_ids=list(product_ids))
    return {product_id: ShelfLabel(*values) for product_id, *values in rows}


_DELIVERIES_OF = Statement(
    "select incoming, expected_on from incoming_stock where product_id = :product_id order by expected_on", Delivery
)


async def deliveries_of(tx: Transaction, product_id: int) -> list[Delivery]:
    """Return a product's expected deliveries in order of date."""
    return await tx.fetch_all(_DELIVERIES_OF, product_id=product_id)


_DELIVERIES_OF_PRODUCTS = Statement("""
    select product_id, incoming, expected_on from incoming_stock
    where product_id = any(:product_ids::bigint[]) order by product_id, expected_on
""")


async def deliveries_of_products(tx: Transaction, product_ids: Sequence[int]) -> dict[int, list[Delivery]]:
    """Return the expected deliveries of products in order of date, by product id; one without any is missing."""
    found: dict[int, list[Delivery]] = {}
    for product_id, *delivery in await tx.fetch_all(_DELIVERIES_OF_PRODUCTS, product_ids=list(product_ids)):
        found.setdefault(product_id, []).append(Delivery(*delivery))
    return found


class BackOrder(Struct, frozen=True):
    """Units of a product that a confirmed order waits for."""

    order_reference: str
    customer_id: int
    quantity: int
    confirmed_at: datetime


_BACK_ORDERS_OF = Statement(
    """
    select o.order_reference, o.customer_id, sum(l.back_ordered)::integer as quantity, o.confirmed_at
    from order_line l join orders o on o.id = l.order_id
    where l.product_id = :product_id and l.back_ordered > 0
    group by o.id order by o.confirmed_at, o.number
    """,
    BackOrder,
)


async def back_orders_of(tx: Transaction, product_id: int) -> list[BackOrder]:
    """Return the orders that wait for a product, next served first."""
    return await tx.fetch_all(_BACK_ORDERS_OF, product_id=product_id)
