"""Checks passwords of staff members and users, and slows down those who guess (reseller's side, section 9)."""

import math
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar

from tradecounter.access.passwords import is_right
from tradecounter.access.queries.guesses import forget_guesses, guesses_since, insert_guess, lock_guesses
from tradecounter.access.queries.staff import StaffMember, find_staff_member, password_of_staff
from tradecounter.access.queries.users import CustomerUser, find_user, password_of_user
from tradecounter.access.rules import GUESSING_WINDOW
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.text import fold

Person = TypeVar("Person")
Find = Callable[[Transaction, str], Awaitable[Person | None]]


async def sign_in_staff(database: Database, email: str, password: str, address: str, now: datetime) -> StaffMember:
    """Return the staff member with an address and a password.

    Raises DomainError: unauthenticated, or too many requests, also for a right password.
    """
    return await _sign_in(database, "staff", find_staff_member, password_of_staff, email, password, address, now)


async def sign_in_user(database: Database, email: str, password: str, address: str, now: datetime) -> CustomerUser:
    """Return the customer's user with an address and a password. Raises DomainError as `sign_in_staff` does."""
    return await _sign_in(database, "user", find_user, password_of_user, email, password, address, now)


async def _sign_in(
    database: Database,
    site: str,
    find: Find[Person],
    password_of: Find[str],
    email: str,
    password: str,
    address: str,
    now: datetime,
) -> Person:
    account = f"{site} {fold(email)}"
    async with transaction(database) as tx:
        await lock_guesses(tx, address)
        guesses = await guesses_since(tx, account, address, now - GUESSING_WINDOW)
        if wait := math.ceil(guesses.wait(now).total_seconds()):
            message = f"too many wrong passwords: try again in {wait} second{'' if wait == 1 else 's'}"
            raise DomainError(Kind.TOO_MANY_REQUESTS, message, retry_after=wait)
        # Counted before it is checked, so that guesses at the same time count too.
        await insert_guess(tx, account, address, now)
        stored = await password_of(tx, email)
    if not await is_right(password, stored):
        raise DomainError(Kind.UNAUTHENTICATED, "the e-mail address or the password is wrong")
    async with transaction(database) as tx:
        await forget_guesses(tx, account, address)
        found = await find(tx, email)
    if found is None:
        raise DomainError(Kind.UNAUTHENTICATED, "the e-mail address or the password is wrong")
    return found
