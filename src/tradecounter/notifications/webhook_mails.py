"""The e-mail to the owner of a paused or disabled webhook."""

from tradecounter.customers.queries.accounts import find_account
from tradecounter.notifications.context import MailContext, NothingToSend
from tradecounter.notifications.mail import Mail
from tradecounter.webhooks.queries.endpoints import find_endpoint


async def webhook_stopped(context: MailContext, *, webhook_id: int) -> Mail | None:
    """Tell the customer, or support for the reseller's webhook; None if the webhook is active again."""
    webhook = await find_endpoint(context.tx, webhook_id)
    if webhook is None or webhook.state == "active" or webhook.reason is None:
        return None
    account = None if webhook.customer_id is None else await find_account(context.tx, webhook.customer_id)
    if account is None and webhook.customer_id is not None:
        raise NothingToSend(f"customer {webhook.customer_id} does not exist")
    return await context.mail(
        f"webhook-stopped-{webhook_id}-{context.now:%Y%m%d%H%M}",
        context.now,
        [context.settings.support.addr_spec if account is None else account.email_address],
        f"Your webhook is {webhook.state}",
        "webhook_stopped",
        webhook=webhook,
    )
