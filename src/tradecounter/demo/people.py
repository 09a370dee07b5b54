"""The demo's staff members and service token, and the passwords of its customers' owners."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from tradecounter.access.passwords import hash_password
from tradecounter.access.permissions import AREAS, ROLES, Role
from tradecounter.access.queries.staff import find_staff_member, set_staff_password
from tradecounter.access.queries.tokens import find_token
from tradecounter.access.queries.users import find_user, set_user_password
from tradecounter.access.staff import add_staff_member
from tradecounter.access.tokens import add_token
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.identity.installation_secret import derived_key
from tradecounter.identity.secret_hash import secret_hash

_PASSWORD_LENGTH = 16


@dataclass(frozen=True, slots=True)
class DemoMember:
    """A demo staff member."""

    email: str
    password: str
    roles: list[Role]


def demo_password(secret: str, email: str) -> str:
    """Return the password of a demo log-in, which is derived from the secret and never changes."""
    return derived_key(secret, f"demo password of {email}")[:_PASSWORD_LENGTH]


async def demo_staff(database: Database, secret: str, now: datetime) -> list[DemoMember]:
    """Return a staff member for each role; add those that are missing."""
    emails = {role: f"{role}@reseller.example" for role in ROLES}
    members = [DemoMember(email, demo_password(secret, email), [role]) for role, email in emails.items()]
    async with transaction(database) as tx:
        for member in members:
            await _add_member(tx, member, secret, now)
    return members


async def _add_member(tx: Transaction, member: DemoMember, secret: str, now: datetime) -> None:
    if await find_staff_member(tx, member.email) is None:
        name = member.roles[0].capitalize()
        added, _ = await add_staff_member(tx, member.email, name, member.roles, secret, now)
        await set_staff_password(tx, added.id, await hash_password(member.password))


async def demo_service_token(database: Database, secret: str, now: datetime) -> str:
    """Return a token with all scopes; it is derived from the secret and never changes."""
    token = derived_key(secret, "demo service token")
    async with transaction(database) as tx:
        if await find_token(tx, secret_hash(token)) is None:
            await add_token(tx, "Demo", [f"{area}:write" for area in AREAS], now, token=token)
    return token


async def set_demo_passwords(database: Database, secret: str, emails: Iterable[str]) -> None:
    """Set the passwords of customers' owners who have none."""
    async with transaction(database) as tx:
        for email in emails:
            user = await find_user(tx, email)
            if user is not None and not user.has_password:
                await set_user_password(tx, user.id, await hash_password(demo_password(secret, email)))
