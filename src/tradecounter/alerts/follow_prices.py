"""Tells users once a day which prices of a list have changed."""

from datetime import datetime

from tradecounter.alerts.queries.price_alerts import (
    alerts_to_check,
    price_alerts_of,
    products_of_list,
    put_price_alert,
    store_check,
)
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.local_time import uk_date
from tradecounter.prices.explain_price import unit_costs_of

_MOST = 20  # lists that a user follows
_BATCH = 20


async def follow_prices(tx: Transaction, customer_id: int, user_id: int, list_id: int, now: datetime) -> None:
    """Have a user told when prices of a list change. Raises DomainError (conflict): too many lists."""
    await put_price_alert(tx, user_id, list_id, await _prices(tx, customer_id, list_id, now), uk_date(now))
    # A new alert has locked the user's row, so alerts that begin at the same time count each other.
    if len(await price_alerts_of(tx, user_id)) > _MOST:
        raise DomainError(Kind.CONFLICT, f"you follow the prices of {_MOST} lists already: end that of another first")


async def tell_of_prices(tx: Transaction, now: datetime) -> int:
    """Look at lists that were not looked at today, and queue an e-mail for each with changes; return how many it saw.

    A product that came into the list since is no change; neither is one that has left it.
    """
    today = uk_date(now)
    alerts = await alerts_to_check(tx, today, _BATCH)
    for alert in alerts:
        known, prices = alert.known, await _prices(tx, alert.customer_id, alert.list_id, now)
        changes = {
            product: (known[product], price)
            for product, price in prices.items()
            if product in known and known[product] != price
        }
        await store_check(tx, alert, prices, changes, today)
        if changes:
            day = today.toordinal()
            await queue(tx, "mail_prices_changed", user_id=alert.user_id, list_id=alert.list_id, day=day)
    return len(alerts)


async def _prices(tx: Transaction, customer_id: int, list_id: int, now: datetime) -> dict[str, str | None]:
    """Return the price of a unit of each product of a list by product id, as an alert stores them."""
    found = await unit_costs_of(tx, customer_id, list(await products_of_list(tx, list_id)), now)
    return {str(product): None if price is None else str(price) for product, price in found.items()}
