"""A customer's own owners invite, change and disable its users. The last owner always stays."""

from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.access.queries.users import find_user, is_owner, list_users, set_rights
from tradecounter.access.users import disable_user, fetch_user_of, invite_user, tell_of_new_owner
from tradecounter.audit.record import audit
from tradecounter.customers.queries.accounts import lock_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import CustomerUser
from tradecounter.edge.permissions import USER_ROLES, UserRole
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.kit.number_types import Pounds

_MOST_LIMIT = 1_000_000_000


class UserRights(Struct):
    """What a user may do: its roles, and the greatest total, with VAT, of an order that needs no approval."""

    roles: list[UserRole]
    order_limit: Pounds | None = None

    def checked_roles(self) -> list[UserRole]:
        """Return the roles, each once, in a fixed order. Raises DomainError (invalid) for roles and limits."""
        if self.order_limit is not None and not 0 < self.order_limit < _MOST_LIMIT:
            raise invalid("order_limit", f"must be more than 0 and less than {_MOST_LIMIT:,}")
        found = [role for role in USER_ROLES if role in self.roles]
        if not found:
            raise invalid("roles", "choose at least one role")
        return found


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
    user, _ = await invite_user(tx, customer_id, email, first, secret, now, more_roles=others)
    return await set_rights(tx, user.id, [first, *others], rights.order_limit) or user


async def change_user_rights(
    tx: Transaction, customer_id: int, user_id: int, rights: UserRights, now: datetime
) -> CustomerUser:
    """Give one of a customer's users other roles and another limit.

    Raises DomainError: not found, invalid, conflict (disabled; the last owner). Locks the customer's row.
    """
    user = await _locked(tx, customer_id, user_id)
    if user.disabled_at is not None:
        raise DomainError(Kind.CONFLICT, f"{user.email} is disabled: invite it again")
    roles = rights.checked_roles()
    if (roles, rights.order_limit) == (list(user.roles), user.order_limit):
        return user
    if "owner" not in roles:
        await _require_other_owner(tx, user)
    before = {"roles": list(user.roles), "order_limit": user.order_limit}
    after = {"roles": roles, "order_limit": rights.order_limit}
    audit(tx, "user.change_role", f"user/{user.email}", now, before=before, after=after)
    changed = await set_rights(tx, user.id, roles, rights.order_limit) or user
    await tell_of_new_owner(tx, user, changed)
    return changed


async def change_user(
    tx: Transaction, customer_id: int, user_id: int, change: UserChange, now: datetime
) -> CustomerUser:
    """Change some of a user's rights. Raises DomainError as `change_user_rights` does."""
    user = await _locked(tx, customer_id, user_id)
    roles = list(user.roles) if change.roles is UNSET else change.roles
    limit = user.order_limit if change.order_limit is UNSET else change.order_limit
    return await change_user_rights(tx, customer_id, user_id, UserRights(roles, limit), now)


async def disable_own_user(tx: Transaction, customer_id: int, user_id: int, now: datetime) -> CustomerUser:
    """Disable one of a customer's users; its sessions and links end.

    Raises DomainError: not found, conflict (the last owner). Locks the customer's row.
    """
    user = await _locked(tx, customer_id, user_id)
    await _require_other_owner(tx, user)
    return await disable_user(tx, user.email, now)


async def _locked(tx: Transaction, customer_id: int, user_id: int) -> CustomerUser:
    await lock_account(tx, customer_id)
    return await fetch_user_of(tx, customer_id, user_id)


async def _require_other_owner(tx: Transaction, user: CustomerUser) -> None:
    if not is_owner(user):
        return
    owners = [other for other in await list_users(tx, user.customer_id) if is_owner(other)]
    if len(owners) < 2:  # noqa: PLR2004 the user and another one
        raise DomainError(Kind.CONFLICT, f"{user.email} is the only owner: make another user an owner first")
