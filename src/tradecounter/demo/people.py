"""The demo's staff members and service token, and the passwords of its customers' owners."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import get_args

from tradecounter.access.passwords import hash_password
from tradecounter.access.queries.staff import find_staff_member
from tradecounter.access.queries.tokens import find_token
from tradecounter.access.queries.users import find_user, list_users, set_rights, store_password
from tradecounter.access.staff import NewStaffMember, add_staff_member
from tradecounter.access.tokens import add_token
from tradecounter.access.users import invite_user
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading, transaction
from tradecounter.demo.lists import ask_about_an_order, fill_lists, keep_views, know_a_customer
from tradecounter.demo.queries import drop_new_jobs
from tradecounter.edge.permissions import AREAS, ROLES, Role, UserRole
from tradecounter.identity.installation_secret import derived_key
from tradecounter.identity.secret_hash import secret_hash

_BUYERS_LIMIT = Decimal(500)
_PASSWORD_LENGTH = 16


@dataclass(frozen=True, slots=True)
class DemoMember:
    """A demo staff member."""

    email: str
    password: str
    roles: list[Role]


@dataclass(frozen=True, slots=True)
class DemoUser:
    """A demo customer's user."""

    customer_id: int
    email: str
    password: str
    role: UserRole


def demo_password(secret: str, email: str) -> str:
    """Return the password of a demo log-in, which is derived from the secret and never changes."""
    return derived_key(secret, f"demo password of {email}")[:_PASSWORD_LENGTH]


def staff_email(role: str) -> str:
    """Return the e-mail address of the demo's staff member with a role."""
    return f"{role}@reseller.example"


def demo_token(secret: str) -> str:
    """Return the demo's service token, which is derived from the secret and never changes."""
    return derived_key(secret, "demo service token")


async def demo_staff(database: Database, secret: str, now: datetime) -> list[DemoMember]:
    """Return a staff member for each role; add those that are missing."""
    emails = {role: staff_email(role) for role in ROLES}
    members = [DemoMember(email, demo_password(secret, email), [role]) for role, email in emails.items()]
    async with reading(database) as tx:
        missing = [member for member in members if await find_staff_member(tx, member.email) is None]
    hashes = await asyncio.gather(*(hash_password(member.password) for member in missing))
    async with transaction(database) as tx:
        for member, password_hash in zip(missing, hashes, strict=True):
            name = member.roles[0].capitalize()
            added, _ = await add_staff_member(tx, NewStaffMember(member.email, name, [*member.roles]), secret, now)
            await store_password(tx, "staff", added.id, password_hash)
            if "support" in member.roles:
                await keep_views(tx, added.id, now)
    return members


async def demo_users(database: Database, secret: str, customer_id: int, domain: str, now: datetime) -> list[DemoUser]:
    """Return a user of the customer for each role but the owner; add those that are missing, without an e-mail."""
    roles: list[UserRole] = [role for role in get_args(UserRole) if role != "owner"]
    users = [
        DemoUser(customer_id, email, demo_password(secret, email), role)
        for role in roles
        for email in [f"{role}@{domain}"]
    ]
    async with transaction(database) as tx:
        for user in users:
            if await find_user(tx, user.email) is None:
                await invite_user(tx, customer_id, user.email, user.role, secret, now)
        for known in await list_users(tx, customer_id):
            if known.has_role("buyer"):
                await fill_lists(tx, known, now)
            if known.role == "buyer" and known.order_limit is None:
                await set_rights(tx, known.id, known.roles, _BUYERS_LIMIT)
                await ask_about_an_order(tx, known, now)
                await know_a_customer(tx, customer_id, now)
        await drop_new_jobs(tx)
    await set_demo_passwords(database, secret, [user.email for user in users])
    return users


async def demo_service_token(database: Database, secret: str, now: datetime) -> str:
    """Return a token with all scopes; add it if it is missing."""
    token = demo_token(secret)
    async with transaction(database) as tx:
        if await find_token(tx, secret_hash(token)) is None:
            await add_token(tx, "Demo", [f"{area}:write" for area in AREAS], now, token=token)
    return token


async def set_demo_passwords(database: Database, secret: str, emails: Iterable[str]) -> None:
    """Set the passwords of customers' users who have none."""
    async with reading(database) as tx:
        found = [await find_user(tx, email) for email in emails]
    users = [user for user in found if user is not None and not user.has_password]
    hashes = await asyncio.gather(*(hash_password(demo_password(secret, user.email)) for user in users))
    async with transaction(database) as tx:
        for user, password_hash in zip(users, hashes, strict=True):
            await store_password(tx, "account", user.id, password_hash)
