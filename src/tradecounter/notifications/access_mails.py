"""The e-mails about access: links to set a password, sign-ins in new browsers, new keys, and stopped webhooks."""

from datetime import datetime
from typing import Any

from tradecounter.access.browser_names import browser_name
from tradecounter.access.links import PAGE, token_of_link
from tradecounter.access.queries.passwords import find_link_by_id
from tradecounter.access.queries.people import find_person_by_id, is_owner, list_users
from tradecounter.access.queries.sign_ins import find_sign_in_facts
from tradecounter.agents.consents import allowed_agent
from tradecounter.audit.queries import actor_of_entry
from tradecounter.customers.queries.accounts import find_account
from tradecounter.edge.people import CustomerUser, Person, Site
from tradecounter.identity.oauth.queries.access_tokens import find_allowed_application
from tradecounter.identity.queries.api_keys import find_key
from tradecounter.kit.money import in_pounds
from tradecounter.notifications.context import MailContext, NothingToSend
from tradecounter.notifications.mail import Mail
from tradecounter.webhooks.queries.endpoints import find_endpoint


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
    return await _person_mail(
        context,
        f"new-browser-{session_id}",
        facts.created_at,
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
    return await _person_mail(
        context,
        f"{template.replace('_', '-')}-{link_id}",
        link.created_at,
        person,
        subject,
        template,
        link=context.settings.page(link.site, f"{PAGE}{token}"),
        expires_at=link.expires_at,
    )


async def _person_mail(
    context: MailContext, name: str, happened: datetime, person: Person, subject: str, template: str, **facts: Any
) -> Mail | None:
    customer_id = person.customer_id if isinstance(person, CustomerUser) else None
    account = None if customer_id is None else await find_account(context.tx, customer_id)
    return await context.mail(name, happened, [person.email], subject, template, account=account, user=person, **facts)


async def owner_added(context: MailContext, *, user_id: int) -> Mail | None:
    """Tell all owners, the new one too; None if the user is no owner any more."""
    user = await find_person_by_id(context.tx, "account", user_id)
    if not isinstance(user, CustomerUser) or not is_owner(user):
        return None
    entry = await actor_of_entry(context.tx, f"user/{user.email}", ("user.invite", "user.change_role", "user.reset"))
    at = user.created_at if entry is None else entry.at
    return await _owner_mail(
        context,
        f"owner-added-{user_id}-{at:%Y%m%d%H%M%S}",
        user.customer_id,
        subject="Your account has a new owner",
        meaning="An owner may do everything in your account, and decides who else may.",
        facts=[("Owner", user.email)],
        at=at,
        by=None if entry is None else entry.user,
        page="user",
        remedy="disable the user",
    )


async def key_added(context: MailContext, *, key_id: int) -> Mail | None:
    """Tell all owners; None if the key is gone or disabled."""
    key = await find_key(context.tx, key_id)
    if key is None or key.disabled_at is not None:
        return None
    entry = await actor_of_entry(context.tx, f"customer/{key.customer_id}", ("key.create",), key_id)
    return await _owner_mail(
        context,
        f"key-added-{key_id}",
        key.customer_id,
        subject="Your account has a new API key",
        meaning="Programs that send it can order for your account, and read all that your account shows."
        if key.may_everything
        else "Programs that send it can do what its scopes say.",
        facts=[("Key", key.name), ("Begins with", key.prefix), ("Scopes", ", ".join(key.scopes))],
        at=key.created_at,
        by=None if entry is None else entry.user,
        page="developer",
        remedy="disable the key",
    )


async def webhook_added(context: MailContext, *, webhook_id: int) -> Mail | None:
    """Tell all owners; None if the webhook is gone."""
    webhook = await find_endpoint(context.tx, webhook_id)
    if webhook is None or webhook.customer_id is None:
        return None
    entry = await actor_of_entry(context.tx, f"webhook/{webhook_id}", ("webhook.add",))
    return await _owner_mail(
        context,
        f"webhook-added-{webhook_id}",
        webhook.customer_id,
        subject="Your account has a new webhook",
        meaning="What happens to your orders, quotes and invoices is sent to its address.",
        facts=[("Address", webhook.url)],
        at=webhook.created_at,
        by=None if entry is None else entry.user,
        page=f"developer/webhook/{webhook_id}",
        remedy="delete the webhook",
    )


async def application_allowed(context: MailContext, *, consent_id: int) -> Mail | None:
    """Tell all owners; None if the consent is revoked."""
    consent = await find_allowed_application(context.tx, consent_id)
    if consent is None:
        return None
    return await _owner_mail(
        context,
        f"application-allowed-{consent_id}",
        consent.customer_id,
        subject="An application may act for your account",
        meaning="It can order for your account, and read all that your account shows.",
        facts=[("Application", consent.name)],
        at=consent.given_at,
        by=consent.email,
        page="developer/application",
        remedy="revoke its access",
    )


async def agent_allowed(context: MailContext, *, consent_id: int) -> Mail | None:
    """Tell all owners; None if the consent is revoked."""
    agent = await allowed_agent(context.tx, consent_id, context.now)
    if agent is None:
        return None
    limits = [("One order may cost", agent.order_limit), ("All orders of a day", agent.day_limit)]
    return await _owner_mail(
        context,
        f"agent-allowed-{consent_id}",
        agent.customer_id,
        subject="An agent may act for your account",
        meaning="It can order for your account."
        if "order" in agent.scopes
        else "It can read your prices and your orders.",
        facts=[
            ("Agent", agent.name),
            ("Returns to", agent.returns_to),
            *((name, in_pounds(limit)) for name, limit in limits if limit is not None),
        ],
        at=agent.given_at,
        by=agent.allowed_by,
        page="developer/agent",
        remedy="revoke its access",
    )


async def _owner_mail(
    context: MailContext,
    name: str,
    customer_id: int,
    *,
    subject: str,
    meaning: str,
    facts: list[tuple[str, str]],
    at: datetime,
    by: str | None,
    page: str,
    remedy: str,
) -> Mail | None:
    """Tell the owners of a customer about new access to its account. Such an e-mail contains no secret."""
    account = await find_account(context.tx, customer_id)
    owners = [user.email for user in await list_users(context.tx, customer_id) if is_owner(user)]
    return await context.mail(
        name,
        at,
        owners,
        subject,
        "access_added",
        account=account,
        meaning=meaning,
        added=facts,
        at=at,
        by=by,
        remedy=remedy,
        link=context.settings.page("account", page),
    )


async def webhook_stopped(context: MailContext, *, webhook_id: int) -> Mail | None:
    """Tell the customer, or support for the reseller's webhook; None if the webhook is active again."""
    webhook = await find_endpoint(context.tx, webhook_id)
    if webhook is None or webhook.state == "active" or webhook.reason is None:
        return None
    account = None if webhook.customer_id is None else await find_account(context.tx, webhook.customer_id)
    if account is None and webhook.customer_id is not None:
        raise NothingToSend(f"customer {webhook.customer_id} does not exist")
    entry = await actor_of_entry(context.tx, f"webhook/{webhook_id}", ("webhook.stop",))
    at = webhook.created_at if entry is None else entry.at
    return await context.mail(
        f"webhook-stopped-{webhook_id}-{at:%Y%m%d%H%M%S}",
        at,
        [context.settings.support.addr_spec if account is None else account.email_address],
        f"Your webhook is {webhook.state}",
        "webhook_stopped",
        webhook=webhook,
    )
