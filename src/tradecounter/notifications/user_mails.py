"""The e-mails to customers' users with a link to set their password."""

from tradecounter.access.links import link_token, user_address
from tradecounter.access.queries.links import link_by_id
from tradecounter.access.queries.users import user_by_id
from tradecounter.customers.queries.accounts import find_account
from tradecounter.notifications.context import MailContext
from tradecounter.notifications.mail import Mail


async def user_invited(context: MailContext, *, link_id: int) -> Mail | None:
    """Send an invitation; a used or expired one is not sent."""
    return await _mail(context, link_id, "You are invited to an account", "user_invited")


async def user_password(context: MailContext, *, link_id: int) -> Mail | None:
    """Send a link to set a new password; a used or expired one is not sent."""
    return await _mail(context, link_id, "Set a new password", "user_password")


async def _mail(context: MailContext, link_id: int, subject: str, template: str) -> Mail | None:
    link = await link_by_id(context.tx, link_id, context.now)
    user = None if link is None or link.user_id is None else await user_by_id(context.tx, link.user_id)
    if link is None or user is None:
        return None
    return await context.mail(
        f"{template.replace('_', '-')}-{link_id}",
        context.now,
        [user.email],
        subject,
        template,
        account=await find_account(context.tx, user.customer_id),
        user=user,
        link=user_address(context.settings.api, link_token(context.settings.secret(), link_id)),
        expires_at=link.expires_at,
    )
