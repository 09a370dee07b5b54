"""The e-mails about customers' requests: to support, and the answer."""

from tradecounter.access.queries.people import find_user
from tradecounter.customer_requests.queries import find_request
from tradecounter.customers.queries.accounts import find_account
from tradecounter.notifications.context import MailContext
from tradecounter.notifications.mail import Mail


async def request_opened(context: MailContext, *, request_id: int) -> Mail | None:
    """Tell support what a customer asks; None if it is answered already."""
    request = await find_request(context.tx, request_id)
    if request is None or request.closed_at is not None:
        return None
    return await context.mail(
        f"request-opened-{request_id}",
        request.opened_at,
        [context.settings.support.addr_spec],
        f"{request.title}: {request.order_reference}, {request.customer}",
        "request_opened",
        reply_to=request.user or None,
        is_to_staff=True,
        request=request,
        link=context.settings.page("staff", f"request/{request_id}"),
    )


async def request_closed(context: MailContext, *, request_id: int) -> Mail | None:
    """Send the answer to the user, or to the account if a program asked or the user is disabled.

    None if the user is deleted.
    """
    request = await find_request(context.tx, request_id)
    account = None if request is None else await find_account(context.tx, request.customer_id)
    if request is None or request.closed_at is None or account is None:
        return None
    user = await find_user(context.tx, request.user)
    if user is None and not request.program:
        return None
    return await context.mail(
        f"request-closed-{request_id}",
        request.closed_at,
        [account.email_address if user is None or user.disabled_at is not None else user.email],
        f"Your request about {request.order_reference}",
        "request_closed",
        request=request,
        account=account,
        link=context.settings.page("account", f"order/{request.order_reference}"),
    )
