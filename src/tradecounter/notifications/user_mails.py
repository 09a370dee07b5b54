"""The e-mails to customers' users and staff members: links to set a password, and sign-ins in a new browser."""

from typing import Any

from tradecounter.access.browsers import browser_name
from tradecounter.access.links import PAGE, token_of_link
from tradecounter.access.queries.links import find_link_by_id
from tradecounter.access.queries.sessions import find_sign_in_facts
from tradecounter.access.queries.users import find_person_by_id
from tradecounter.customers.queries.accounts import find_account
from tradecounter.edge.people import CustomerUser, Person, Site
from tradecounter.notifications.context import MailContext
from tradecounter.notifications.mail import Mail


async def user_invited(context: MailContext, *, link_id: int) -> Mail | None:
    """Send an invitation; None if its link is used or expired, or of a key that is gone."""
    return await _link_mail(context, link_id, "You are invited to an account", "user_invited")


async def user_password(context: MailContext, *, link_id: int) -> Mail | None:
    """Send a link to set a new password; None if it is used or expired, or of a key that is gone."""
    return await _link_mail(context, link_id, "Set a new password", "user_password")


async def new_browser(context: MailContext, *, session_id: int) -> Mail | None:
    """Tell a person about a sign-in with a browser that is new to the account."""
    facts = await find_sign_in_facts(context.tx, session_id)
    if facts is None:
        return None
    site: Site = "account" if facts.staff_id is None else "staff"
    person = await find_person_by_id(context.tx, site, facts.staff_id or facts.user_id or 0)
    if person is None:
        return None
    return await _mail(
        context,
        f"new-browser-{session_id}",
        person,
        "You signed in with a new browser",
        "new_browser",
        sign_in=facts,
        browser=browser_name(facts.browser),
        link=context.settings.page(site, "sign-ins"),
    )


async def _link_mail(context: MailContext, link_id: int, subject: str, template: str) -> Mail | None:
    link = await find_link_by_id(context.tx, link_id, context.now)
    person = None if link is None else await find_person_by_id(context.tx, link.site, link.person_id)
    token = None if link is None else await token_of_link(context.tx, link_id, context.settings.secrets())
    if link is None or person is None or token is None:
        return None
    return await _mail(
        context,
        f"{template.replace('_', '-')}-{link_id}",
        person,
        subject,
        template,
        link=context.settings.page(link.site, f"{PAGE}{token}"),
        expires_at=link.expires_at,
    )


async def _mail(
    context: MailContext, name: str, person: Person, subject: str, template: str, **facts: Any
) -> Mail | None:
    customer_id = person.customer_id if isinstance(person, CustomerUser) else None
    account = None if customer_id is None else await find_account(context.tx, customer_id)
    return await context.mail(
        name, context.now, [person.email], subject, template, account=account, user=person, **facts
    )
