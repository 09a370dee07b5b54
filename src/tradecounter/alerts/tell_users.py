"""Chooses which e-mails a user gets, and tells users of stock, changed prices, and invoices that are due soon."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from tradecounter.access.queries.people import lock_user
from tradecounter.alerts.queries import (
    AlertKind,
    WaitingAlert,
    add_stock_alert,
    alerts_to_check,
    choose_alerts,
    chosen_alerts_of,
    find_invoices_due,
    forget_told,
    mark_in_stock,
    price_alerts_of,
    products_of_list,
    put_price_alert,
    stock_alerts_of,
    store_check,
    waiting_in_stock,
)
from tradecounter.audit.record import audit
from tradecounter.customers.queries.accounts import accounts_of
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import CustomerUser
from tradecounter.edge.permissions import UserRole
from tradecounter.kit.clock import day_ends, uk_date
from tradecounter.kit.errors import DomainError, Kind, or_not_found
from tradecounter.storefront.customer_prices import unit_costs_by_customer, unit_costs_of
from tradecounter.storefront.view import CustomerView

_ROLE_FOR: Mapping[AlertKind, UserRole] = {"dispatched": "buyer", "invoices_due": "accounts"}


async def choose_emails(tx: Transaction, user: CustomerUser, kinds: Collection[AlertKind], now: datetime) -> None:
    """Store the e-mails that a user wants; the others end. What the user's roles do not show is left out."""
    lock_user(tx, user.id)
    before = await chosen_alerts_of(tx, user.id)
    chosen = [kind for kind, role in _ROLE_FOR.items() if kind in kinds and user.has_role(role)]
    if set(chosen) != before:
        await choose_alerts(tx, user.id, chosen, now)
        former, new = {"emails": sorted(before)}, {"emails": chosen}
        audit(tx, "user.choose_emails", f"user/{user.email}", now, before=former, after=new)


_MOST_PRODUCTS = 200  # products that a user waits for
_ALERTS_AT_ONCE = 500  # each time in a transaction of its own, which takes a second
_TOLD_KEPT_FOR = timedelta(days=30)  # once told; changed prices once found, since their e-mail may be late


async def set_stock_alert(tx: Transaction, user_id: int, view: CustomerView, sku: str, now: datetime) -> None:
    """Have a user told when a product is in stock. Raises DomainError: not found, conflict (too many)."""
    row, _ = or_not_found(view.find(sku), "product", sku)
    lock_user(tx, user_id)  # so that alerts that are set at the same time count each other
    await add_stock_alert(tx, user_id, view.product(row).id, now)
    waiting = [alert for alert in await stock_alerts_of(tx, user_id) if alert.in_stock_at is None]
    if len(waiting) > _MOST_PRODUCTS:
        raise DomainError(
            Kind.CONFLICT, f"you wait for {_MOST_PRODUCTS} products already: remove one from your alerts first"
        )


async def tell_of_stock(tx: Transaction, now: datetime) -> int:
    """Queue an e-mail for each of the first users whose products are in stock; return how many.

    All that is in stock for a user is in one e-mail. An alert of a product without a price for the customer, who cannot
    buy it, waits on.
    """
    users: list[int] = []
    after = 0
    while not users and (alerts := await waiting_in_stock(tx, after, _ALERTS_AT_ONCE)):
        after = alerts[-1].user_id
        users = await mark_in_stock(tx, await _can_buy(tx, alerts, now), now)
    for user_id in users:
        queue(tx, "mail_back_in_stock", user_id=user_id, found=int(now.timestamp()))
    await forget_told(tx, now - _TOLD_KEPT_FOR)
    return len(users)


async def _can_buy(tx: Transaction, alerts: Sequence[WaitingAlert], now: datetime) -> list[WaitingAlert]:
    """Return the alerts of products with a price for their customers, without those of customers that are gone."""
    products: defaultdict[int, list[int]] = defaultdict(list)
    for alert in alerts:
        products[alert.customer_id].append(alert.product_id)
    accounts = await accounts_of(tx, products)
    costs = await unit_costs_by_customer(tx, accounts.values(), products, now)
    return [each for each in alerts if costs.get(each.customer_id, {}).get(each.product_id) is not None]


_MOST_LISTS = 20  # lists that a user follows
_LISTS_AT_ONCE = 20


async def follow_prices(tx: Transaction, customer_id: int, user_id: int, list_id: int, now: datetime) -> None:
    """Have a user told when prices of a list change. Raises DomainError (conflict): too many lists."""
    await put_price_alert(tx, user_id, list_id, await _prices_of_list(tx, customer_id, list_id, now), uk_date(now))
    # A new alert has locked the user's row, so alerts that begin at the same time count each other.
    if len(await price_alerts_of(tx, user_id)) > _MOST_LISTS:
        raise DomainError(
            Kind.CONFLICT, f"you follow the prices of {_MOST_LISTS} lists already: end that of another first"
        )


async def tell_of_prices(tx: Transaction, now: datetime) -> int:
    """Look at lists that were not looked at today, and queue an e-mail for each with changes; return how many it saw.

    A product that came into the list since is no change; neither is one that has left it.
    """
    today = uk_date(now)
    first, last = (today - _TOLD_KEPT_FOR).isoformat(), today.isoformat()
    alerts = await alerts_to_check(tx, today, _LISTS_AT_ONCE)
    for alert in alerts:
        known, prices = alert.known, await _prices_of_list(tx, alert.customer_id, alert.list_id, now)
        changes = {day: changed for day, changed in alert.changes.items() if first <= day < last}
        changed = {
            product: (known[product], price)
            for product, price in prices.items()
            if product in known and known[product] != price
        }
        if changed:
            changes[last] = changed
            turn = f"prices of list {alert.list_id} for user {alert.user_id}"  # late e-mails come in order
            ids = {"user_id": alert.user_id, "list_id": alert.list_id}
            queue(tx, "mail_prices_changed", turn, **ids, day=today.toordinal())
        await store_check(tx, alert, prices, changes, today)
    return len(alerts)


async def _prices_of_list(tx: Transaction, customer_id: int, list_id: int, now: datetime) -> dict[str, str | None]:
    """Return the price of a unit of each product of a list by product id, as an alert stores them."""
    prices = await unit_costs_of(tx, customer_id, list(await products_of_list(tx, list_id)), now)
    return {str(product): None if price is None else str(price) for product, price in prices.items()}


DAYS_BEFORE = 3


async def tell_of_due_invoices(tx: Transaction, now: datetime) -> int:
    """Queue an e-mail for each user with invoices that come due within three days; return how many.

    Each invoice is in one e-mail, as soon as it is near.
    """
    until = day_ends(uk_date(now) + timedelta(days=DAYS_BEFORE))
    users = await find_invoices_due(tx, until)
    for each in users:
        told = {"after": int(each.after.timestamp()), "until": int(until.timestamp()), "last": each.last}
        queue(tx, "mail_invoices_due", user_id=each.user_id, seen=each.seen, **told)
    return len(users)
