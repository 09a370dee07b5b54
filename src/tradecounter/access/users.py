"""Invites and disables customers' users, and sends them links to set their passwords."""

from datetime import datetime

from tradecounter.access.links import make_link
from tradecounter.access.permissions import USER_ROLES, UserRole
from tradecounter.access.queries.links import delete_links
from tradecounter.access.queries.users import CustomerUser, find_user, put_user, set_user_disabled
from tradecounter.access.rules import INVITATION_LIFETIME, RESET_LIFETIME
from tradecounter.audit.record import audit
from tradecounter.customers.queries.accounts import the_account
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.email_addresses import NOT_AN_EMAIL, parse_email
from tradecounter.kit.errors import DomainError, Kind, invalid


async def invite_user(
    tx: Transaction, customer_id: int, email: str, role: UserRole, secret: str, now: datetime
) -> tuple[CustomerUser, int]:
    """Add a customer's user, or change a user's role, and send a link to set the password by e-mail.

    Returns the user and the id of the link. Raises DomainError: not found, invalid, conflict (another customer's user).
    """
    await the_account(tx, customer_id)
    if parse_email(email) is None:
        raise invalid("email", NOT_AN_EMAIL)
    if role not in USER_ROLES:
        raise invalid("role", f"must be one of {', '.join(USER_ROLES)}")
    before = await find_user(tx, email)
    user = await put_user(tx, customer_id, email, role, now)
    if user is None:
        raise DomainError(Kind.CONFLICT, f"email: {email} is a user of another customer")
    changed = None if before is None else {"role": before.role}
    audit(
        tx, "user.invite", f"user/{user.email}", now, before=changed, after={"customer_id": customer_id, "role": role}
    )
    link_id = await make_link(tx, secret, now, INVITATION_LIFETIME, user_id=user.id)
    await queue(tx, "mail_user_invited", link_id=link_id)
    return user, link_id


async def mail_password_link(tx: Transaction, email: str, secret: str, now: datetime) -> None:
    """Send a link to a user who has forgotten the password; do nothing for an unknown address.

    The caller's response must not depend on whether the address is known.
    """
    user = await find_user(tx, email)
    if user is None or user.disabled_at is not None:
        return
    link_id = await make_link(tx, secret, now, RESET_LIFETIME, user_id=user.id)
    await queue(tx, "mail_user_password", link_id=link_id)


async def disable_user(tx: Transaction, email: str, now: datetime) -> CustomerUser:
    """Disable a customer's user; its links end. Raises DomainError (not found)."""
    user = await find_user(tx, email)
    if user is None:
        raise DomainError(Kind.NOT_FOUND, f"user {email} does not exist")
    await set_user_disabled(tx, user.id, now)
    await delete_links(tx, user_id=user.id)
    audit(tx, "user.disable", f"user/{user.email}", now)
    return user
