"""Adds, disables and resets staff members."""

from collections.abc import Sequence
from datetime import datetime

from tradecounter.access.links import make_link
from tradecounter.access.permissions import ROLES
from tradecounter.access.queries.factors import delete_factors
from tradecounter.access.queries.links import delete_links
from tradecounter.access.queries.staff import (
    StaffMember,
    clear_staff_password,
    insert_staff_member,
    set_staff_disabled,
    the_staff_member,
)
from tradecounter.access.rules import INVITATION_LIFETIME
from tradecounter.access.sessions import end_all_sessions
from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction
from tradecounter.kit.email_addresses import NOT_AN_EMAIL, parse_email
from tradecounter.kit.errors import DomainError, Kind, invalid, require_text

_LONGEST_NAME = 200


async def add_staff_member(
    tx: Transaction, email: str, name: str, roles: Sequence[str], secret: str, now: datetime
) -> tuple[StaffMember, int]:
    """Add a staff member, and return it with the id of the link to set its password.

    Raises DomainError: invalid, conflict (the address is taken).
    """
    if parse_email(email) is None:
        raise invalid("email", NOT_AN_EMAIL)
    require_text("name", name, _LONGEST_NAME)
    if not roles or not set(roles) <= set(ROLES):
        raise invalid("roles", f"must be some of {', '.join(ROLES)}")
    chosen = [role for role in ROLES if role in roles]
    member = await insert_staff_member(tx, email, name.strip(), chosen, now)
    if member is None:
        raise DomainError(Kind.CONFLICT, f"email: {email} is another staff member's")
    audit(tx, "staff.create", _subject(member), now, after={"name": member.name, "roles": member.roles})
    return member, await make_link(tx, secret, now, INVITATION_LIFETIME, staff_id=member.id)


async def disable_staff_member(tx: Transaction, email: str, now: datetime) -> StaffMember:
    """Disable a staff member; its sessions and links end. Raises DomainError (not found)."""
    member = await the_staff_member(tx, email)
    await set_staff_disabled(tx, member.id, now)
    await end_all_sessions(tx, "staff", member.id, now, but=None)
    await delete_links(tx, staff_id=member.id)
    audit(tx, "staff.disable", _subject(member), now)
    return member


async def reset_staff_member(tx: Transaction, email: str, secret: str, now: datetime) -> tuple[StaffMember, int]:
    """Delete a staff member's password and second factor, enable it, and return it with the id of a new link.

    Raises DomainError (not found).
    """
    member = await the_staff_member(tx, email)
    await clear_staff_password(tx, member.id)
    await delete_factors(tx, "staff", member.id)
    await end_all_sessions(tx, "staff", member.id, now, but=None)
    audit(tx, "staff.reset", _subject(member), now)
    return member, await make_link(tx, secret, now, INVITATION_LIFETIME, staff_id=member.id)


def _subject(member: StaffMember) -> str:
    return f"staff/{member.email}"
