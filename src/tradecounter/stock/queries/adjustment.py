"""Adjusts stock levels to what is counted in the warehouse."""

from collections.abc import Iterable, Mapping

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.stock.queries.stock_of_product import StockLevel

_LOCK = Statement("""
    insert into stock_level (product_id) select * from unnest(:product_ids::bigint[]) as p (id) order by id
    on conflict (product_id) do update set product_id = excluded.product_id
    returning product_id, available, allocated, back_ordered
""")


async def locked_levels(tx: Transaction, product_ids: Iterable[int]) -> dict[int, StockLevel]:
    """Return the levels of products, locked in order of product until the transaction ends."""
    rows = await tx.fetch_all(_LOCK, product_ids=sorted(product_ids))
    return {product_id: StockLevel(*units) for product_id, *units in rows}


_SET_AVAILABLE = Statement("""
    update stock_level s set available = n.available, changed_by = pg_current_xact_id()
    from unnest(:product_ids::bigint[], :available::bigint[]) as n (product_id, available)
    where s.product_id = n.product_id
""")


async def set_available(tx: Transaction, available: Mapping[int, int]) -> None:
    """Store the units for sale, by product id."""
    await tx.execute(_SET_AVAILABLE, product_ids=list(available), available=list(available.values()))
