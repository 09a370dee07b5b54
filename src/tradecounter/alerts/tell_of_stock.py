"""Sets stock alerts, and tells users whose products are in stock."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from tradecounter.alerts.queries.lock_alerts import lock_alerts
from tradecounter.alerts.queries.stock_alerts import (
    WaitingAlert,
    add_stock_alert,
    count_stock_alerts,
    forget_told,
    mark_in_stock,
    waiting_in_stock,
)
from tradecounter.customers.queries.accounts import accounts_of
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, not_found
from tradecounter.kit.local_time import uk_date
from tradecounter.prices.explain_price import Buyer, explain_price
from tradecounter.prices.price_book import DEFAULT_LIST
from tradecounter.prices.queries.prices_of_products import contract_prices_of_products, list_prices_of_products
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


async def _can_buy(tx: Transaction, alerts: Sequence[WaitingAlert], now: datetime) -> list[WaitingAlert]:
    """Return the alerts of products with a price for their customers, without those of customers that are gone."""
    if not alerts:
        return []
    products = list({each.product_id for each in alerts})
    accounts = await accounts_of(tx, {each.customer_id for each in alerts})
    wanted_lists = {DEFAULT_LIST, *(account.price_list or DEFAULT_LIST for account in accounts.values())}
    lists = await list_prices_of_products(tx, products, list(wanted_lists))
    contracts = {each: await contract_prices_of_products(tx, products, each) for each in accounts}
    today = uk_date(now)

    def has_price(alert: WaitingAlert) -> bool:
        account = accounts.get(alert.customer_id)
        if account is None:
            return False
        buyer = Buyer(account.id, account.price_list, account.discount)
        of_product, of_lists = contracts[account.id].get(alert.product_id, ()), lists.get(alert.product_id, ())
        return explain_price("", buyer, 1, of_product, of_lists, today).unit_cost is not None

    return [each for each in alerts if has_price(each)]
