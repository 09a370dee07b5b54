"""What the API and the pages share of orders that support creates and amends for customers.

Callers first check the permission to override the credit.
"""

from contextlib import nullcontext
from datetime import datetime

from msgspec import UNSET

from tradecounter.db.transaction import Transaction
from tradecounter.kit.json_text import decode_json
from tradecounter.orders.amend.amend_order import amend_order
from tradecounter.orders.create.create_for_customer import create_for_customer
from tradecounter.orders.create.read_request import read_request
from tradecounter.orders.external_ids import set_external_id
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.order_context import OrderContexts
from tradecounter.orders.reseller_wire import OverrideCredit
from tradecounter.orders.staff_wire import Amendment, OrderRequest
from tradecounter.orders.states import AnyOrder, ConfirmedOrder, PendingOrder

SELLERS = ("support", "finance", "administrator")  # only finance may override the credit


async def create_sale(
    tx: Transaction, body: OrderRequest, contexts: OrderContexts, now: datetime
) -> PendingOrder | ConfirmedOrder:
    """Create an order for a customer. Raises DomainError as `create_for_customer` does."""
    context = contexts.of(body.customer_id, now)
    reason = _reason(body.override_credit)
    order, _ = await create_for_customer(tx, body, context, confirm=False, override_credit=reason)
    if body.external_id is not None:
        await set_external_id(tx, str(order.id), body.external_id, now)
    return order


async def check_sale(tx: Transaction, raw: bytes, contexts: OrderContexts, now: datetime) -> None:
    """Check the order in a body where some field has the wrong type. Raises DomainError (invalid)."""
    body = decode_json(raw)
    customer_id = body.get("customer_id") if isinstance(body, dict) else None
    if type(customer_id) is int and 0 < customer_id < 2**63:
        await read_request(raw, contexts.of(customer_id, now), lambda: nullcontext(tx))


async def amend_sale(
    tx: Transaction, reference: str, body: Amendment, contexts: OrderContexts, now: datetime
) -> AnyOrder:
    """Amend a confirmed order, or give any its external id. Raises DomainError as these do."""
    if body.external_id is not UNSET:
        named = await set_external_id(tx, reference, body.external_id, now)
        if body.changes_nothing:
            return named
    context = contexts.of((await fetch_order(tx, reference)).customer_id, now)
    order, _ = await amend_order(tx, reference, body, context)
    return order


def _reason(override: OverrideCredit | None) -> str | None:
    return None if override is None else override.reason
