"""Sets stock alerts, and tells users whose products are in stock."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter

from tradecounter.alerts.queries.lock_alerts import lock_alerts
from tradecounter.alerts.queries.stock_alerts import (
    WaitingAlert,
    add_stock_alert,
    count_stock_alerts,
    forget_told,
    mark_in_stock,
    waiting_in_stock,
)
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, not_found
from tradecounter.prices.explain_price import unit_costs_of
from tradecounter.storefront.view import CustomerView

_MOST = 200  # products that a user waits for
_KEPT_FOR = timedelta(days=30)  # once told


async def set_stock_alert(tx: Transaction, user_id: int, view: CustomerView, sku: str, now: datetime) -> None:
    """Have a user told when a product is in stock. Raises DomainError: not found, conflict (too many)."""
    found = view.find(sku)
    if found is None:
        raise not_found("product", sku)
    await lock_alerts(tx, user_id)
    if await count_stock_alerts(tx, user_id) >= _MOST:
        raise DomainError(Kind.CONFLICT, f"you wait for {_MOST} products already: remove one from your alerts first")
    await add_stock_alert(tx, user_id, view.product(found[0]).id, now)


async def tell_of_stock(tx: Transaction, now: datetime) -> int:
    """Queue an e-mail for each user whose products are in stock; return how many.

    An alert of a product without a price for the customer, who cannot buy it, waits on.
    """
    users = await mark_in_stock(tx, await _can_buy(tx, await waiting_in_stock(tx), now), now)
    for user_id in users:
        await queue(tx, "mail_back_in_stock", user_id=user_id, found=int(now.timestamp()))
    await forget_told(tx, now - _KEPT_FOR)
    return len(users)


async def _can_buy(tx: Transaction, alerts: Iterable[WaitingAlert], now: datetime) -> list[WaitingAlert]:
    priced: list[WaitingAlert] = []
    for customer_id, group in groupby(alerts, key=attrgetter("customer_id")):
        own = list(group)
        costs = await unit_costs_of(tx, customer_id, list({each.product_id for each in own}), now)
        priced += (each for each in own if costs[each.product_id] is not None)
    return priced
