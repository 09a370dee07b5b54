"""Adds, changes, disables and resets staff members."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from tradecounter.access.links import make_link
from tradecounter.access.queries.passwords import delete_links
from tradecounter.access.queries.people import (
    enable_without_password,
    fetch_staff_member,
    insert_staff_member,
    lock_administrators,
    lock_staff_member,
    set_disabled,
    set_name_and_roles,
)
from tradecounter.access.queries.second_factors import delete_factors
from tradecounter.access.queries.sign_ins import end_sessions_of
from tradecounter.access.rules import INVITATION_LIFETIME
from tradecounter.audit.record import audit, audit_edit
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import StaffMember
from tradecounter.edge.permissions import ROLES, Role
from tradecounter.kit.email_addresses import NOT_AN_EMAIL, parse_email
from tradecounter.kit.errors import DomainError, Kind, invalid, require_text
from tradecounter.kit.text import LONGEST_NAME


class NewStaffMember(Struct):
    """A staff member to add."""

    email: Annotated[str, Meta(description="The staff member's e-mail address.")]
    name: Annotated[str, Meta(description="The member's name.")]
    roles: Annotated[list[str], Meta(description=f"One of {', '.join(ROLES)}; may be repeated.")] = []


async def add_staff_member(tx: Transaction, new: NewStaffMember, secret: str, now: datetime) -> tuple[StaffMember, int]:
    """Add a staff member, and return it with the id of the link to set its password.

    Raises DomainError: invalid, conflict (the address is taken).
    """
    if parse_email(new.email) is None:
        raise invalid("email", NOT_AN_EMAIL)
    name = require_text("name", new.name, LONGEST_NAME)
    member = await insert_staff_member(tx, new.email, name, _checked_roles(new.roles), now)
    if member is None:
        raise DomainError(Kind.CONFLICT, f"email: {new.email} is another staff member's")
    audit(tx, "staff.create", _subject(member), now, after={"name": member.name, "roles": member.roles})
    return member, await make_link(tx, "staff", member.id, secret, now, INVITATION_LIFETIME)


async def edit_staff_member(
    tx: Transaction, email: str, name: str | None, roles: Sequence[str] | None, now: datetime
) -> StaffMember:
    """Change a staff member's name and roles; None leaves them as they are. They count from the next request on.

    Raises DomainError: not found, invalid, conflict (the member takes the role of an administrator from itself, or is
    the last administrator).
    """
    if name is None and roles is None:
        raise invalid("roles", "name at least one change")
    administrators = await lock_administrators(tx)
    member = await lock_staff_member(tx, (await fetch_staff_member(tx, email)).id)
    chosen_name = member.name if name is None else require_text("name", name, LONGEST_NAME)
    chosen = member.roles if roles is None else _checked_roles(roles)
    if "administrator" in member.roles and "administrator" not in chosen:
        _require_another(tx, member, "take your own role of an administrator")
        _require_one_left(administrators, member)
    edited = replace(member, name=chosen_name, roles=chosen)
    await set_name_and_roles(tx, member.id, edited.name, edited.roles)
    before = {"name": member.name, "roles": member.roles}
    after = {"name": edited.name, "roles": edited.roles}
    audit_edit(tx, "staff.edit", _subject(member), now, before=before, after=after)
    return edited


async def disable_staff_member(tx: Transaction, email: str, now: datetime) -> StaffMember:
    """Disable a staff member; its sessions and links end.

    Raises DomainError: not found, conflict (it is itself, or the last administrator).
    """
    administrators = await lock_administrators(tx)
    member = await fetch_staff_member(tx, email)
    _require_another(tx, member, "disable yourself")
    _require_one_left(administrators, member)
    await set_disabled(tx, "staff", member.id, now)
    await end_sessions_of(tx, "staff", member.id, now, but=None)
    await delete_links(tx, "staff", member.id)
    if member.disabled_at is None:
        audit(tx, "staff.disable", _subject(member), now)
    return member


async def reset_staff_member(tx: Transaction, email: str, secret: str, now: datetime) -> tuple[StaffMember, int]:
    """Delete a staff member's password and second factor, enable it, and return it with the id of a new link.

    Raises DomainError: not found, conflict (it is itself, and the last administrator: a lost link would lock it out).
    """
    administrators = await lock_administrators(tx)
    member = await fetch_staff_member(tx, email)
    if _is_actor(tx, member):
        _require_one_left(administrators, member)
    await enable_without_password(tx, "staff", member.id)
    await delete_factors(tx, "staff", member.id)
    await end_sessions_of(tx, "staff", member.id, now, but=None)
    audit(tx, "staff.reset", _subject(member), now)
    return member, await make_link(tx, "staff", member.id, secret, now, INVITATION_LIFETIME)


def _checked_roles(roles: Sequence[str]) -> list[Role]:
    if not roles or not set(roles) <= set(ROLES):
        raise invalid("roles", f"must be some of {', '.join(ROLES)}")
    return [role for role in ROLES if role in roles]


def _require_another(tx: Transaction, member: StaffMember, what: str) -> None:
    """Check that the actor is not the member."""
    if _is_actor(tx, member):
        raise DomainError(Kind.CONFLICT, f"you cannot {what}: ask another administrator")


def _is_actor(tx: Transaction, member: StaffMember) -> bool:
    return tx.actor.kind == "staff" and tx.actor.id == member.id


def _require_one_left(administrators: Sequence[int], member: StaffMember) -> None:
    """Check that the member is not the last administrator; they are locked, so that no two disable each other."""
    if administrators == [member.id]:
        raise DomainError(Kind.CONFLICT, f"{member.email} is the last administrator: add another one first")


def _subject(member: StaffMember) -> str:
    return f"staff/{member.email}"
