"""The reseller's own ids of orders, which customers never see."""

from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.kit.external_ids import clean_external_id
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.history import audit_order
from tradecounter.orders.queries.external_ids import change_external_id
from tradecounter.orders.states import AnyOrder


async def set_external_id(tx: Transaction, reference: str, external_id: str | None, now: datetime) -> AnyOrder:
    """Give an order or a quote in any state an external id, or take it away; return the order.

    Raises DomainError: not found, invalid, conflict (another order has the id).
    """
    order = await fetch_order(tx, reference)
    new = clean_external_id(external_id)
    old = await change_external_id(tx, order.id, new)
    if new != old:
        audit_order(tx, "order.external_id", order, now, before={"external_id": old}, after={"external_id": new})
    return order
