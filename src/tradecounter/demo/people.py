"""The demo's staff members, service token and customers' users; their lists, baskets, requests, notes and views."""

import asyncio
from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import get_args

from msgspec import Struct

from tradecounter.access.passwords import hash_password
from tradecounter.access.queries.people import find_staff_member, find_user, list_users, set_rights, store_password
from tradecounter.access.queries.tokens import find_token
from tradecounter.access.staff import NewStaffMember, add_staff_member
from tradecounter.access.tokens import add_token
from tradecounter.access.users import invite_user
from tradecounter.baskets.queries import add_lines
from tradecounter.customer_notes.keep_notes import ContactDetails, add_contact, add_note
from tradecounter.customer_notes.queries import contacts_of
from tradecounter.customer_requests.handle_requests import RequestDetails, open_request
from tradecounter.customer_requests.queries import count_requests
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.demo.queries import drop_new_jobs, some_products
from tradecounter.edge.people import CustomerUser
from tradecounter.edge.permissions import AREAS, ROLES, Role, UserRole
from tradecounter.identity.credentials import secret_hash
from tradecounter.identity.installation_secret import derived_key
from tradecounter.kit.clock import uk_date
from tradecounter.orders.queries.all_orders import OrderFilter, list_all_orders
from tradecounter.saved_lists.queries import insert_list, lists_of, put_lines
from tradecounter.saved_views.queries import NewView, insert_view

_BUYERS_LIMIT = Decimal(500)
_PASSWORD_LENGTH = 16


class DemoMember(Struct, frozen=True):
    """A demo staff member."""

    email: str
    password: str
    roles: list[Role]


class DemoUser(Struct, frozen=True):
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
        people = [await find_user(tx, email) for email in emails]
    users = [user for user in people if user is not None and not user.has_password]
    hashes = await asyncio.gather(*(hash_password(demo_password(secret, user.email)) for user in users))
    async with transaction(database) as tx:
        for user, password_hash in zip(users, hashes, strict=True):
            await store_password(tx, "account", user.id, password_hash)


_KITS = (("Office move", True, 0), ("Van stock", False, 40))
_UNITS_IN_LISTS = (10, 2, 4, 1, 6)
_CONTACTS = (
    ContactDetails(name="Priya Nair", task="Deliveries", email="goods@harbourline.example", phone="023 8096 0142"),
    ContactDetails(
        name="Tom Adeyemi-Holt", task="Invoices", email="accounts@harbourline.example", phone="023 8096 0177"
    ),
)
_PROMISED_IN = timedelta(days=6)
_SAVED_VIEWS = (("To dispatch", "/order", "status=To+dispatch"), ("Overdue", "/invoice", "show=overdue"))


async def fill_lists(tx: Transaction, user: CustomerUser, now: datetime) -> None:
    """Give a user's company a list, the user one of its own, and a basket; once."""
    there = {saved_list.shared for saved_list in await lists_of(tx, user)}
    if False in there:
        return
    for name, shared, first in _KITS:
        if shared in there:
            continue
        products = await some_products(tx, first, len(_UNITS_IN_LISTS))
        list_id = await insert_list(tx, user, name, now, shared=shared)
        await put_lines(tx, list_id, list(zip(products, _UNITS_IN_LISTS, strict=False)))
    basket = [(product_id, 2) for product_id in await some_products(tx, 60, 2)]
    await add_lines(tx, user.id, basket)


async def ask_about_an_order(tx: Transaction, user: CustomerUser, now: datetime) -> None:
    """Have a user ask about the company's latest order; once."""
    latest = await list_all_orders(tx, OrderFilter(customer_id=user.customer_id, state="confirmed"), 1)
    if not latest or await count_requests(tx, user.customer_id, "open"):
        return
    request_details = RequestDetails(text="Can the driver ring half an hour before? The site is locked.")
    await open_request(tx, user.customer_id, latest[0].name, "message", request_details, now, user_id=user.id)


async def know_a_customer(tx: Transaction, customer_id: int, now: datetime) -> None:
    """Give a customer people, and a note with a promise to pay; once."""
    if await contacts_of(tx, customer_id):
        return
    for person in _CONTACTS:
        await add_contact(tx, customer_id, person, now)
    text = "Tom called: their new system went live last week, so the two old invoices are late."
    await add_note(tx, customer_id, text, now, promised_on=uk_date(now + _PROMISED_IN))


async def keep_views(tx: Transaction, staff_id: int, now: datetime) -> None:
    """Share a member's views of lists."""
    for name, path, query in _SAVED_VIEWS:
        await insert_view(tx, staff_id, NewView(name=name, path=path, query=query, shared=True, on_today=True), now)
