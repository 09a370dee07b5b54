"""Invites, changes, disables and resets customers' users, for staff and for a customer's own owners."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from tradecounter.access.links import make_link
from tradecounter.access.queries.passwords import delete_links
from tradecounter.access.queries.people import (
    enable_without_password,
    end_agents_of,
    fetch_user,
    fetch_user_of,
    find_user,
    is_owner,
    list_users,
    put_user,
    set_disabled,
    set_rights,
)
from tradecounter.access.queries.second_factors import delete_factors
from tradecounter.access.queries.sign_ins import end_sessions_of
from tradecounter.access.rules import INVITATION_LIFETIME
from tradecounter.audit.record import audit
from tradecounter.customers.queries.accounts import lock_account
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import CustomerUser
from tradecounter.edge.permissions import CONSENT_GIVERS, USER_ROLES, UserRole
from tradecounter.kit.email_addresses import NOT_AN_EMAIL, parse_email
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.kit.numbers import Pounds


async def invite_user(
    tx: Transaction,
    customer_id: int,
    email: str,
    role: UserRole,
    secret: str,
    now: datetime,
    *,
    more_roles: Sequence[UserRole] = (),
    order_limit: Decimal | UnsetType | None = UNSET,
) -> tuple[CustomerUser, int]:
    """Add a customer's user, or change a user's first role, and send a link to set the password by e-mail.

    A disabled user is enabled, with no other roles than `role` and `more_roles`; an enabled one keeps its others. The
    agents of a user who may allow none any more end.
    Returns the user and the id of the link. Locks the customer's row. Raises DomainError: not found, invalid, conflict
    (another customer's user; the last owner).
    """
    await lock_account(tx, customer_id)
    if parse_email(email) is None:
        raise invalid("email", NOT_AN_EMAIL)
    if role not in USER_ROLES:
        raise invalid("role", f"must be one of {', '.join(USER_ROLES)}")
    before = await find_user(tx, email)
    if before is not None and before.disabled_at is None:
        more_roles = [*more_roles, *before.more_roles]
    more_roles = [other for other in dict.fromkeys(more_roles) if other != role]
    if before is not None and before.customer_id == customer_id and "owner" not in {role, *more_roles}:
        await _require_other_owner(tx, before)
    user = await put_user(tx, customer_id, email, role, now, more_roles=more_roles)
    if user is None:
        raise DomainError(Kind.CONFLICT, f"email: {email} is a user of another customer")
    if order_limit is not UNSET:
        user = await set_rights(tx, user.id, user.roles, order_limit) or user
    await _end_agents_without_giver(tx, user, now)
    changed = None if before is None else _rights_of(before)
    after = {"customer_id": customer_id, **_rights_of(user)}
    audit(tx, "user.invite", f"user/{user.email}", now, before=changed, after=after)
    link_id = await make_link(tx, "account", user.id, secret, now, INVITATION_LIFETIME)
    queue(tx, "mail_user_invited", link_id=link_id)
    tell_of_new_owner(tx, before, user)
    return user, link_id


async def disable_user(tx: Transaction, user: CustomerUser, now: datetime) -> None:
    """Disable a customer's user, also the last owner; its sessions, links and agents end.

    A disabled user stays as it is.
    """
    await set_disabled(tx, "account", user.id, now)
    await end_agents_of(tx, user.id, now)
    await end_sessions_of(tx, "account", user.id, now, but=None)
    await delete_links(tx, "account", user.id)
    if user.disabled_at is None:
        audit(tx, "user.disable", f"user/{user.email}", now)


async def reset_user(tx: Transaction, email: str, secret: str, now: datetime) -> tuple[CustomerUser, int]:
    """Delete a user's password and second factor, enable the user, and send a link to set a new password by e-mail.

    Returns the user and the id of the link. Raises DomainError (not found).
    """
    user = await fetch_user(tx, email)
    await enable_without_password(tx, "account", user.id)
    await delete_factors(tx, "account", user.id)
    await end_sessions_of(tx, "account", user.id, now, but=None)
    audit(tx, "user.reset", f"user/{user.email}", now)
    link_id = await make_link(tx, "account", user.id, secret, now, INVITATION_LIFETIME)
    queue(tx, "mail_user_password", link_id=link_id)
    tell_of_new_owner(tx, user, replace(user, disabled_at=None))
    return user, link_id


def tell_of_new_owner(tx: Transaction, before: CustomerUser | None, after: CustomerUser) -> None:
    """Have all owners told by e-mail when a user has become an owner."""
    if is_owner(after) and (before is None or not is_owner(before)):
        queue(tx, "mail_owner_added", user_id=after.id)


_MOST_LIMIT = 1_000_000_000


class UserRights(Struct):
    """What a user may do: its roles, and the greatest total, with VAT, of an order that needs no approval."""

    roles: list[UserRole]
    order_limit: Pounds | None = None

    def checked_roles(self) -> list[UserRole]:
        """Return the roles, each once, in a fixed order. Raises DomainError (invalid) for roles and limits."""
        if self.order_limit is not None and not 0 < self.order_limit < _MOST_LIMIT:
            raise invalid("order_limit", f"must be more than 0 and less than {_MOST_LIMIT:,}")
        roles = [role for role in USER_ROLES if role in self.roles]
        if not roles:
            raise invalid("roles", "must include at least one")
        return roles


class UserChange(Struct):
    """What changes of a user's rights; what is left out stays."""

    roles: Annotated[list[UserRole], Meta(description="All roles that the user has then.")] | UnsetType = UNSET
    order_limit: (
        Annotated[
            Pounds | None,
            Meta(description="The total, with VAT, above which an order needs approval. Null: no order needs it."),
        ]
        | UnsetType
    ) = UNSET


async def invite_own_user(
    tx: Transaction, customer_id: int, email: str, rights: UserRights, secret: str, now: datetime
) -> CustomerUser:
    """Add a user, or enable one again, and send a link to set the password by e-mail.

    The error says nothing about other customers' users. Raises DomainError: invalid, conflict (is already a user).
    """
    first, *others = rights.checked_roles()
    before = await find_user(tx, email)
    if before is not None and before.customer_id != customer_id:
        raise invalid("email", "this address cannot be invited: use another one, or ask us for help")
    if before is not None and before.disabled_at is None:
        raise DomainError(Kind.CONFLICT, f"{before.email} is already a user: change its role in the list")
    user, _ = await invite_user(
        tx, customer_id, email, first, secret, now, more_roles=others, order_limit=rights.order_limit
    )
    return user


async def change_user(
    tx: Transaction, customer_id: int, user_id: int, change: UserChange, now: datetime
) -> CustomerUser:
    """Change rights of one of a customer's users. The agents of a user who may allow none any more end.

    Raises DomainError: not found, invalid, conflict (disabled; the last owner). Locks the customer's row.
    """
    user = await _user_of_locked(tx, customer_id, user_id)
    if user.disabled_at is not None:
        raise DomainError(Kind.CONFLICT, f"{user.email} is disabled: invite it again")
    limit = user.order_limit if change.order_limit is UNSET else change.order_limit
    roles = UserRights(list(user.roles) if change.roles is UNSET else change.roles, limit).checked_roles()
    if (roles, limit) == (list(user.roles), user.order_limit):
        return user
    if "owner" not in roles:
        await _require_other_owner(tx, user)
    changed = await set_rights(tx, user.id, roles, limit) or user
    await _end_agents_without_giver(tx, changed, now)
    audit(tx, "user.change_role", f"user/{user.email}", now, before=_rights_of(user), after=_rights_of(changed))
    tell_of_new_owner(tx, user, changed)
    return changed


async def disable_own_user(tx: Transaction, customer_id: int, user_id: int, now: datetime) -> CustomerUser:
    """Disable one of a customer's users; its sessions, links and agents end.

    Raises DomainError: not found, conflict (the last owner). Locks the customer's row.
    """
    user = await _user_of_locked(tx, customer_id, user_id)
    await _require_other_owner(tx, user)
    await disable_user(tx, user, now)
    return user


async def _user_of_locked(tx: Transaction, customer_id: int, user_id: int) -> CustomerUser:
    await lock_account(tx, customer_id)
    return await fetch_user_of(tx, customer_id, user_id)


async def _end_agents_without_giver(tx: Transaction, user: CustomerUser, now: datetime) -> None:
    if not user.has_role(*CONSENT_GIVERS):
        await end_agents_of(tx, user.id, now)


def _rights_of(user: CustomerUser) -> dict[str, Any]:
    return {"roles": list(user.roles), "order_limit": user.order_limit}


async def _require_other_owner(tx: Transaction, user: CustomerUser) -> None:
    if not is_owner(user):
        return
    owners = [other for other in await list_users(tx, user.customer_id) if is_owner(other)]
    if len(owners) < 2:  # noqa: PLR2004 the user and another one
        raise DomainError(Kind.CONFLICT, f"{user.email} is the only owner: make another user an owner first")
