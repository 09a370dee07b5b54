"""The e-mail to a user whose products are in stock again."""

from datetime import UTC, datetime

from tradecounter.access.links import site_address
from tradecounter.access.queries.users import user_by_id
from tradecounter.alerts.queries import stock_alerts_of
from tradecounter.customers.queries.accounts import find_account
from tradecounter.notifications.context import MailContext
from tradecounter.notifications.mail import Mail


async def back_in_stock(context: MailContext, *, user_id: int, found: int) -> Mail | None:
    """Name the products that were found in stock at a Unix time; None without them, or without an active user."""
    user = await user_by_id(context.tx, user_id)
    if user is None or user.disabled_at is not None:
        return None
    alerts = await stock_alerts_of(context.tx, user_id)
    products = [alert for alert in alerts if alert.in_stock_at and int(alert.in_stock_at.timestamp()) == found]
    if not products:
        return None
    first, *others = products
    more = f" and {len(others)} more" if others else ""
    return await context.mail(
        f"back-in-stock-{user_id}-{found}",
        datetime.fromtimestamp(found, UTC),
        [user.email],
        f"In stock: {first.sku}{more}",
        "back_in_stock",
        account=await find_account(context.tx, user.customer_id),
        products=products,
        shop=site_address("account", context.settings.api, "product"),
        link=site_address("account", context.settings.api, "alert"),
    )
