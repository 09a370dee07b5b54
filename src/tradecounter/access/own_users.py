"""A customer's own owners invite, change and disable its users. The last owner always stays."""

from datetime import datetime

from tradecounter.access.queries.users import find_user, is_owner, list_users, put_user
from tradecounter.access.users import disable_user, invite_user, tell_of_new_owner
from tradecounter.audit.record import audit
from tradecounter.customers.queries.accounts import lock_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import CustomerUser
from tradecounter.edge.permissions import UserRole
from tradecounter.kit.errors import DomainError, Kind, invalid, not_found


async def invite_own_user(
    tx: Transaction, customer_id: int, email: str, role: UserRole, secret: str, now: datetime
) -> CustomerUser:
    """Add a user, or enable one again, and send a link to set the password by e-mail.

    The error says nothing about other customers' users. Raises DomainError: invalid, conflict (is already a user).
    """
    before = await find_user(tx, email)
    if before is not None and before.customer_id != customer_id:
        raise invalid("email", "this address cannot be invited: use another one, or ask us for help")
    if before is not None and before.disabled_at is None:
        raise DomainError(Kind.CONFLICT, f"{before.email} is already a user: change its role in the list")
    user, _ = await invite_user(tx, customer_id, email, role, secret, now)
    return user


async def fetch_own_user(tx: Transaction, customer_id: int, user_id: int) -> CustomerUser:
    """Return one of a customer's users. Raises DomainError (not found)."""
    user = next((user for user in await list_users(tx, customer_id) if user.id == user_id), None)
    if user is None:
        raise not_found("user", user_id)
    return user


async def change_user_role(
    tx: Transaction, customer_id: int, user_id: int, role: UserRole, now: datetime
) -> CustomerUser:
    """Give one of a customer's users another role. Raises DomainError: not found, conflict (disabled; the last owner).

    Locks the customer's row.
    """
    user = await _locked(tx, customer_id, user_id)
    if user.disabled_at is not None:
        raise DomainError(Kind.CONFLICT, f"{user.email} is disabled: invite it again")
    if role == user.role:
        return user
    await _require_other_owner(tx, user)
    audit(tx, "user.change_role", f"user/{user.email}", now, before={"role": user.role}, after={"role": role})
    changed = await put_user(tx, customer_id, user.email, role, now)
    await tell_of_new_owner(tx, user, changed or user)
    return changed or user


async def disable_own_user(tx: Transaction, customer_id: int, user_id: int, now: datetime) -> CustomerUser:
    """Disable one of a customer's users; its sessions and links end.

    Raises DomainError: not found, conflict (the last owner). Locks the customer's row.
    """
    user = await _locked(tx, customer_id, user_id)
    await _require_other_owner(tx, user)
    return await disable_user(tx, user.email, now)


async def _locked(tx: Transaction, customer_id: int, user_id: int) -> CustomerUser:
    await lock_account(tx, customer_id)
    return await fetch_own_user(tx, customer_id, user_id)


async def _require_other_owner(tx: Transaction, user: CustomerUser) -> None:
    if user.role != "owner" or user.disabled_at is not None:
        return
    owners = [other for other in await list_users(tx, user.customer_id) if is_owner(other)]
    if len(owners) < 2:  # noqa: PLR2004 the user and another one
        raise DomainError(Kind.CONFLICT, f"{user.email} is the only owner: make another user an owner first")
