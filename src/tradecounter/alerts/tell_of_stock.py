"""Sets stock alerts, and tells users whose products are in stock."""

from datetime import datetime, timedelta

from tradecounter.alerts.queries.lock_alerts import lock_alerts
from tradecounter.alerts.queries.stock_alerts import add_stock_alert, count_stock_alerts, find_in_stock, forget_told
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, not_found
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
    """Queue an e-mail for each user whose products are in stock; return how many."""
    users = await find_in_stock(tx, now)
    for user_id in users:
        await queue(tx, "mail_back_in_stock", user_id=user_id, found=int(now.timestamp()))
    await forget_told(tx, now - _KEPT_FOR)
    return len(users)
