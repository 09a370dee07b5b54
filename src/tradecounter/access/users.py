"""Invites, disables and resets customers' users."""

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from tradecounter.access.links import make_link
from tradecounter.access.queries.factors import delete_factors
from tradecounter.access.queries.links import delete_links
from tradecounter.access.queries.sessions import end_all_sessions
from tradecounter.access.queries.users import (
    clear_password,
    find_user,
    is_owner,
    list_users,
    put_user,
    set_disabled,
)
from tradecounter.access.rules import INVITATION_LIFETIME
from tradecounter.audit.record import audit
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import CustomerUser
from tradecounter.edge.permissions import USER_ROLES, UserRole
from tradecounter.kit.email_addresses import NOT_AN_EMAIL, parse_email
from tradecounter.kit.errors import DomainError, Kind, invalid, or_not_found


async def invite_user(
    tx: Transaction,
    customer_id: int,
    email: str,
    role: UserRole,
    secret: str,
    now: datetime,
    *,
    more_roles: Sequence[UserRole] = (),
) -> tuple[CustomerUser, int]:
    """Add a customer's user, or change a user's roles, and send a link to set the password by e-mail.

    Returns the user and the id of the link. Raises DomainError: not found, invalid, conflict (another customer's user).
    """
    await fetch_account(tx, customer_id)
    if parse_email(email) is None:
        raise invalid("email", NOT_AN_EMAIL)
    if role not in USER_ROLES:
        raise invalid("role", f"must be one of {', '.join(USER_ROLES)}")
    before = await find_user(tx, email)
    user = await put_user(tx, customer_id, email, role, now, more_roles=more_roles)
    if user is None:
        raise DomainError(Kind.CONFLICT, f"email: {email} is a user of another customer")
    changed = None if before is None else {"roles": list(before.roles)}
    after = {"customer_id": customer_id, "roles": list(user.roles)}
    audit(tx, "user.invite", f"user/{user.email}", now, before=changed, after=after)
    link_id = await make_link(tx, "account", user.id, secret, now, INVITATION_LIFETIME)
    await queue(tx, "mail_user_invited", link_id=link_id)
    await tell_of_new_owner(tx, before, user)
    return user, link_id


async def disable_user(tx: Transaction, email: str, now: datetime) -> CustomerUser:
    """Disable a customer's user; its sessions and links end. Raises DomainError (not found)."""
    user = await fetch_user(tx, email)
    await set_disabled(tx, "account", user.id, now)
    await end_all_sessions(tx, "account", user.id, now, but=None)
    await delete_links(tx, "account", user.id)
    audit(tx, "user.disable", f"user/{user.email}", now)
    return user


async def reset_user(tx: Transaction, email: str, secret: str, now: datetime) -> tuple[CustomerUser, int]:
    """Delete a user's password and second factor, enable the user, and send a link to set a new password by e-mail.

    Returns the user and the id of the link. Raises DomainError (not found).
    """
    user = await fetch_user(tx, email)
    await clear_password(tx, "account", user.id)
    await delete_factors(tx, "account", user.id)
    await end_all_sessions(tx, "account", user.id, now, but=None)
    audit(tx, "user.reset", f"user/{user.email}", now)
    link_id = await make_link(tx, "account", user.id, secret, now, INVITATION_LIFETIME)
    await queue(tx, "mail_user_password", link_id=link_id)
    await tell_of_new_owner(tx, user, replace(user, disabled_at=None))
    return user, link_id


async def tell_of_new_owner(tx: Transaction, before: CustomerUser | None, after: CustomerUser) -> None:
    """Have all owners told by e-mail when a user has become an owner."""
    if is_owner(after) and (before is None or not is_owner(before)):
        await queue(tx, "mail_owner_added", user_id=after.id)


async def fetch_user(tx: Transaction, email: str) -> CustomerUser:
    """Return a customer's user by its address. Raises DomainError (not found)."""
    return or_not_found(await find_user(tx, email), "user", email)


async def fetch_user_of(tx: Transaction, customer_id: int, user_id: int) -> CustomerUser:
    """Return one of a customer's users. Raises DomainError (not found)."""
    found = next((user for user in await list_users(tx, customer_id) if user.id == user_id), None)
    return or_not_found(found, "user", user_id)
