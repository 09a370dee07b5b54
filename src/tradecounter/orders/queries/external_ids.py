"""The SQL of orders' external ids, which no statement that reads orders for customers has."""

from collections.abc import Sequence

import psycopg

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.external_ids import taken_external_id

_CHANGE = Statement("""
    with former as (select id, external_id from orders where id = :order_id for no key update)
    update orders set external_id = :external_id from former where orders.id = former.id returning former.external_id
""")


async def change_external_id(tx: Transaction, order_id: int, external_id: str | None) -> str | None:
    """Set an order's external id and return the former one. Raises DomainError (conflict): another order has it."""
    try:
        former: str | None = await tx.fetch_value(_CHANGE, order_id=order_id, external_id=external_id)
    except psycopg.errors.UniqueViolation as error:
        raise taken_external_id(external_id) from error
    return former


_OF_ORDERS = Statement("select id, external_id from orders where id = any(:ids::bigint[]) and external_id is not null")


async def external_ids_of(tx: Transaction, order_ids: Sequence[int]) -> dict[int, str]:
    """Return the external ids of those orders that have one."""
    return dict(await tx.fetch_all(_OF_ORDERS, ids=list(order_ids)))
