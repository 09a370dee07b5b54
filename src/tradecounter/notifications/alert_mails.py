"""The e-mails that users have asked for: products in stock again, changed prices, invoices that are due soon."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from tradecounter.access.queries.people import find_user_by_id
from tradecounter.alerts.queries import price_alerts_of, products_of_list, stock_alerts_of
from tradecounter.billing.queries.invoice_records import invoices_to_pay
from tradecounter.customers.queries.accounts import find_account
from tradecounter.edge.people import CustomerUser
from tradecounter.edge.permissions import UserRole
from tradecounter.kit.clock import day_in_words, uk_date
from tradecounter.kit.text import and_more, sentence
from tradecounter.notifications.billing_mails import unpaid_mail
from tradecounter.notifications.context import MailContext
from tradecounter.notifications.mail import Mail


async def back_in_stock(context: MailContext, *, user_id: int, found: int) -> Mail | None:
    """Name the products that were found in stock at a Unix time; None without them, or without an active user."""
    user = await _active(context, user_id, "buyer")
    if user is None:
        return None
    alerts = await stock_alerts_of(context.tx, user_id)
    products = [alert for alert in alerts if alert.in_stock_at and int(alert.in_stock_at.timestamp()) == found]
    if not products:
        return None
    return await context.mail(
        f"back-in-stock-{user_id}-{found}",
        datetime.fromtimestamp(found, UTC),
        [user.email],
        f"In stock: {and_more([alert.sku for alert in products], 1)}",
        "back_in_stock",
        account=await find_account(context.tx, user.customer_id),
        products=products,
        shop=context.settings.page("account", "product"),
        link=context.settings.page("account", "alert"),
    )


async def prices_changed(context: MailContext, *, user_id: int, list_id: int, day: int) -> Mail | None:
    """Name the products of a list whose prices have changed; `day` is that of the comparison, as an ordinal.

    None without an active user, or if the user follows the list no more.
    """
    user = await _active(context, user_id, "buyer")
    alerts = [alert for alert in await price_alerts_of(context.tx, user_id) if alert.list_id == list_id]
    if user is None or not alerts:
        return None
    [alert] = alerts
    # An earlier version stored only the latest changes, without their day.
    changes: Mapping[str, Any] = alert.changes.get(date.fromordinal(day).isoformat(), alert.changes)
    changed = [
        (sku, name, *(None if price is None else Decimal(price) for price in changes[str(product)]))
        for product, (sku, name) in (await products_of_list(context.tx, list_id)).items()
        if str(product) in changes
    ]
    if not changed:
        return None
    return await context.mail(
        f"prices-changed-{user_id}-{list_id}-{day}",
        context.now,
        [user.email],
        f"Prices have changed: {alert.name}",
        "prices_changed",
        account=await find_account(context.tx, user.customer_id),
        list_name=alert.name,
        changed=changed,
        link=context.settings.page("account", f"list/{list_id}"),
        alerts=context.settings.page("account", "alert"),
    )


async def invoices_due(
    context: MailContext, *, user_id: int, until: int, after: int = 0, seen: int = 0, last: int = 0
) -> Mail | None:
    """Name the unpaid invoices up to the number `last` that are due by a Unix time; None without an active user.

    Only those that are due after another Unix time, or whose numbers are above `seen`; None without any. Jobs that an
    earlier version has queued have no `after`, or no numbers.
    """
    user = await _active(context, user_id, "accounts")
    account = None if user is None else await find_account(context.tx, user.customer_id)
    if user is None or account is None:
        return None
    begin, end = (datetime.fromtimestamp(each, UTC) for each in (after, until))
    unpaid = await invoices_to_pay(context.tx, account.id)
    invoices = [
        invoice
        for invoice in unpaid
        if invoice.due_at < end
        and (seen < invoice.number <= last or (begin < invoice.due_at and (invoice.number <= last or not last)))
    ]
    if not invoices:
        return None
    named = f"invoice {invoices[0].number} is" if len(invoices) == 1 else f"{len(invoices)} invoices are"
    return await unpaid_mail(
        context,
        f"invoices-due-{user_id}-{until}-{last}",
        user.email,
        f"{sentence(named)} due by {day_in_words(uk_date(end - timedelta(seconds=1)))}",
        account,
        invoices,
        heading="Invoices due soon",
        alerts=context.settings.page("account", "alert"),
    )


async def _active(context: MailContext, user_id: int, role: UserRole) -> CustomerUser | None:
    """Return a user who may still sign in and has a role, or None."""
    user = await find_user_by_id(context.tx, user_id)
    return user if user is not None and user.disabled_at is None and user.has_role(role) else None
