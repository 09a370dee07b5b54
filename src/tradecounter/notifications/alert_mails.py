"""The e-mail to a user whose products are in stock again."""

from tradecounter.access.links import site_address
from tradecounter.access.queries.users import user_by_id
from tradecounter.alerts.queries import stock_alerts_of
from tradecounter.customers.queries.accounts import find_account
from tradecounter.notifications.context import MailContext
from tradecounter.notifications.mail import Mail


async def back_in_stock(context: MailContext, *, user_id: int) -> Mail | None:
    """Name the products that were last found in stock; None if the user is gone, disabled, or takes no interest."""
    user = await user_by_id(context.tx, user_id)
    if user is None or user.disabled_at is not None:
        return None
    alerts = [(alert, alert.in_stock_at) for alert in await stock_alerts_of(context.tx, user_id)]
    latest = max((at for _, at in alerts if at is not None), default=None)
    found = [alert for alert, at in alerts if at == latest]
    if latest is None or not found:
        return None
    first, *others = found
    more = f" and {len(others)} more" if others else ""
    return await context.mail(
        f"back-in-stock-{user_id}-{latest:%Y%m%d%H%M}",
        latest,
        [user.email],
        f"In stock: {first.sku}{more}",
        "back_in_stock",
        account=await find_account(context.tx, user.customer_id),
        products=found,
        shop=site_address("account", context.settings.api, "product"),
        link=site_address("account", context.settings.api, "alert"),
    )
