"""Signs people in and out: the password first, then the code of a second factor.

Passwords are checked with no transaction open, since that takes long.
"""

from datetime import datetime, timedelta
from typing import Literal

from msgspec import Struct

from tradecounter.access.guessing import Attempt, count_attempt, forget_attempts, log_failure
from tradecounter.access.passwords import is_right
from tradecounter.access.queries.passwords import delete_guess
from tradecounter.access.queries.people import find_password, find_person, lock_password
from tradecounter.access.queries.sign_ins import end_session, find_session_by_hash
from tradecounter.access.second_factor import WRONG_CODE, SignInPolicy, enable_factor, has_factor, use_second_factor
from tradecounter.access.sessions import ACCOUNT_BLOCKED, find_session, see_visitor, start_session
from tradecounter.audit.record import audit
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.jobs import queue
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.edge.people import CustomerUser, Person, Site, actor_of, noun_of, site_of, subject_of
from tradecounter.edge.session import Session
from tradecounter.identity.credentials import secret_hash
from tradecounter.kit.errors import DomainError, Kind, invalid

_SECOND_STEP = timedelta(minutes=10)  # from the right password to the code
NextStep = Literal["done", "code", "set_up"]


class Visitor(Struct, frozen=True):
    """Who asks to sign in: the network address, the User-Agent header, and the cookies of session and browser."""

    address: str
    browser: str
    cookie: str = ""
    mark: str = ""


class SignIn(Struct, frozen=True):
    """The cookie's value after a step, and what comes next; `mark` is the browser's cookie once all is done.

    `recovery_codes` are those of a second factor that was just set up.
    """

    cookie: str
    next: NextStep
    mark: str | None = None
    recovery_codes: tuple[str, ...] = ()


async def sign_in(
    database: Database, policy: SignInPolicy, site: Site, email: str, password: str, visitor: Visitor, now: datetime
) -> SignIn:
    """Check a password and start a session, or a half session until the second factor is entered.

    A right password is not counted, but earlier wrong ones stay until `forget_attempts`, since a code may follow.
    An unknown address takes the same time as a wrong password. Raises DomainError: unauthenticated, forbidden (the
    customer is blocked), or too many requests.
    """
    async with transaction(database) as tx:
        attempt_id = await count_attempt(tx, Attempt.at(site, email, visitor.address), now)
        stored = await find_password(tx, site, email)
        person = await find_person(tx, site, email)
    if not await is_right(password, stored) or person is None:
        raise _wrong_password(site, person, visitor.address)
    if isinstance(person, CustomerUser):
        await _require_unblocked(database, person, attempt_id)
    async with transaction(database, actor_of(person, visitor.address)) as tx:
        if await lock_password(tx, site, email) != stored:  # changed meanwhile
            raise _wrong_password(site, person, visitor.address)
        former = await find_session(tx, site, visitor.cookie, now)
        if former is not None:
            await end_session(tx, former.id, now)
        if await has_factor(tx, person):
            following: NextStep = "code"
        elif policy.requires_factor(site):
            following = "set_up"
        else:
            return await _complete(tx, person, visitor, now)
        await delete_guess(tx, attempt_id)
        cookie, _ = await start_session(
            tx, site, person.id, visitor.address, visitor.browser, now, needs_second_factor=True
        )
    return SignIn(cookie, following)


async def enter_code(
    database: Database, policy: SignInPolicy, site: Site, code: str, visitor: Visitor, now: datetime
) -> SignIn:
    """Complete a sign-in with a code of the authenticator or a recovery code.

    Raises DomainError: unauthenticated (the password has to be entered again), invalid (the code), too many requests.
    """
    half = await _half_session_of_attempt(database, site, visitor, now)
    async with transaction(database, actor_of(half.person, visitor.address)) as tx:
        await lock_password(tx, site, half.person.email)
        if not await use_second_factor(tx, policy, half.person, code, now):
            log_failure(site, half.person, visitor.address, "code")
            raise invalid("code", WRONG_CODE)
        return await _complete_half(tx, half, visitor, now)


async def enter_first_code(
    database: Database, policy: SignInPolicy, site: Site, code: str, visitor: Visitor, now: datetime
) -> SignIn:
    """Complete a sign-in by setting up a second factor that is compulsory. Raises DomainError as `enter_code`."""
    half = await _half_session_of_attempt(database, site, visitor, now)
    async with transaction(database, actor_of(half.person, visitor.address)) as tx:
        await lock_password(tx, site, half.person.email)
        if await has_factor(tx, half.person):  # set up meanwhile, perhaps by the rightful owner
            raise _begin_again()
        codes = await enable_factor(tx, policy, half, code, now)
        return await _complete_half(tx, half, visitor, now, codes)


async def half_session(tx: Transaction, site: Site, cookie: str, now: datetime) -> Session:
    """Return the session whose person has not entered the second factor yet, for ten minutes.

    Raises DomainError (unauthenticated).
    """
    oldest = now - _SECOND_STEP
    session = await find_session_by_hash(tx, site, secret_hash(cookie), oldest, oldest, needs_second_factor=True)
    if session is None:
        raise _begin_again()
    return session


async def sign_out(tx: Transaction, session: Session, now: datetime) -> None:
    """End a session; the cookie is then worthless."""
    await end_session(tx, session.id, now)
    audit(tx, f"{noun_of(session.person)}.sign_out", subject_of(session.person), now)


async def _half_session_of_attempt(database: Database, site: Site, visitor: Visitor, now: datetime) -> Session:
    """Count an attempt to enter a code, and return the visitor's half session."""
    async with transaction(database) as tx:
        half = await half_session(tx, site, visitor.cookie, now)
        await count_attempt(tx, Attempt.at(site, half.person.email, visitor.address), now)
    return half


async def _complete_half(
    tx: Transaction, half: Session, visitor: Visitor, now: datetime, codes: list[str] | None = None
) -> SignIn:
    """Replace a half session, whose person is locked, by a whole one."""
    if not await end_session(tx, half.id, now):  # a new password, a reset or a disabling ended it meanwhile
        raise _begin_again()
    return await _complete(tx, half.person, visitor, now, codes)


async def _complete(
    tx: Transaction, person: Person, visitor: Visitor, now: datetime, codes: list[str] | None = None
) -> SignIn:
    site = site_of(person)
    await forget_attempts(tx, Attempt.at(site, person.email, visitor.address))
    cookie, session_id = await start_session(tx, site, person.id, visitor.address, visitor.browser, now)
    mark, is_known = await see_visitor(tx, site, person.id, visitor.mark, now)
    if not is_known:
        queue(tx, "mail_user_browser", session_id=session_id)
    audit(tx, f"{noun_of(person)}.sign_in", subject_of(person), now)
    return SignIn(cookie=cookie, next="done", mark=mark, recovery_codes=tuple(codes or ()))


async def _require_unblocked(database: Database, user: CustomerUser, attempt_id: int) -> None:
    """Raise DomainError (forbidden) if a user's customer is blocked; the password was right, so it does not count."""
    async with transaction(database) as tx:
        if not (await fetch_account(tx, user.customer_id)).blocked:
            return
        await delete_guess(tx, attempt_id)
    raise DomainError(Kind.FORBIDDEN, ACCOUNT_BLOCKED)


def _wrong_password(site: Site, person: Person | None, address: str) -> DomainError:
    log_failure(site, person, address, "password")
    return DomainError(Kind.UNAUTHENTICATED, "the e-mail address or the password is wrong")


def _begin_again() -> DomainError:
    return DomainError(Kind.UNAUTHENTICATED, "this took too long; sign in again")
