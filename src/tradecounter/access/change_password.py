"""Changes passwords, mails links to people who forgot theirs, and asks for them again before dangerous steps."""

from datetime import datetime, timedelta

from tradecounter.access.guessing import Attempt, count_attempt, forget_attempts, log_failure
from tradecounter.access.links import make_link
from tradecounter.access.passwords import hash_password, is_right
from tradecounter.access.queries.passwords import has_link_since, insert_request, take_request
from tradecounter.access.queries.people import find_password, find_person, lock_password, store_password
from tradecounter.access.queries.sign_ins import end_sessions_of, prove_session
from tradecounter.access.rules import RESET_LIFETIME, check_password
from tradecounter.access.second_factor import WRONG_CODE, SignInPolicy, has_factor, use_second_factor
from tradecounter.access.sessions import start_session
from tradecounter.audit.record import audit
from tradecounter.db.jobs import queue
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.edge.people import Site, actor_of, noun_of, site_of, subject_of
from tradecounter.edge.session import Session
from tradecounter.kit.email_addresses import LONGEST_EMAIL
from tradecounter.kit.errors import DomainError, invalid

_BETWEEN_MAILS = timedelta(minutes=2)


async def change_password(
    database: Database, session: Session, current: str, password: str, address: str, now: datetime
) -> str:
    """Change the password of the signed-in person, end all its sessions, and return the cookie of a new one.

    Raises DomainError: invalid (either password), too many requests.
    """
    person = session.person
    site = site_of(person)
    check_password(password, (person.email, person.name))
    proven = await _prove_password(database, session, current, "current_password", address, now)
    password_hash = await hash_password(password)
    async with transaction(database, actor_of(person, address)) as tx:
        if await lock_password(tx, site, person.email) != proven:  # changed meanwhile
            raise _wrong_password(session, "current_password", address)
        await store_password(tx, site, person.id, password_hash)
        await end_sessions_of(tx, site, person.id, now, but=None)
        await forget_attempts(tx, Attempt.at(site, person.email, address))
        audit(tx, f"{noun_of(person)}.change_password", subject_of(person), now)
        cookie, _ = await start_session(tx, site, person.id, address, session.browser, now)
        return cookie


async def prove(
    database: Database, policy: SignInPolicy, session: Session, given: str, address: str, now: datetime
) -> None:
    """Ask for the code again, or for the password of a person without a second factor.

    Raises DomainError: invalid (`given`), too many requests.
    """
    person = session.person
    async with transaction(database) as tx:
        by_code = await has_factor(tx, person)
        if by_code:
            await count_attempt(tx, Attempt.at(site_of(person), person.email, address), now)
    if not by_code:
        await _prove_password(database, session, given, "given", address, now)
    async with transaction(database, actor_of(person, address)) as tx:
        if by_code and not await use_second_factor(tx, policy, person, given, now):
            log_failure(site_of(person), person, address, "again")
            raise invalid("given", WRONG_CODE)
        await prove_session(tx, session.id, now)
        await forget_attempts(tx, Attempt.at(site_of(person), person.email, address))
        audit(tx, f"{noun_of(person)}.prove", subject_of(person), now)


async def ask_for_password_link(tx: Transaction, site: Site, email: str, address: str, now: datetime) -> None:
    """Have a link to set a new password mailed, if the address is a person's; ten requests of an address are free.

    Does the same for every address; the worker looks it up. Raises DomainError (too many requests).
    """
    await count_attempt(tx, Attempt.for_link(address), now)
    request_id = await insert_request(tx, site, email.strip()[:LONGEST_EMAIL], now)
    queue(tx, "find_forgotten_password", request_id=request_id)


async def mail_password_link(tx: Transaction, request_id: int, secret: str, now: datetime) -> None:
    """Queue the e-mail for a request of `ask_for_password_link`; nothing for an unknown or a disabled person."""
    request = await take_request(tx, request_id)
    person = None if request is None else await find_person(tx, request.site, request.email)
    if person is None or person.disabled_at is not None:
        return
    site = site_of(person)
    await lock_password(tx, site, person.email)  # two requests at once get one link: a second one would end the first
    if not await has_link_since(tx, site, person.id, now - _BETWEEN_MAILS):
        link_id = await make_link(tx, site, person.id, secret, now, RESET_LIFETIME)
        queue(tx, "mail_user_password", link_id=link_id)


async def _prove_password(
    database: Database, session: Session, password: str, field: str, address: str, now: datetime
) -> str | None:
    """Return the hash of the password of the session's person. The caller forgets the attempt.

    Raises DomainError: invalid, too many requests.
    """
    person = session.person
    site = site_of(person)
    async with transaction(database) as tx:
        await count_attempt(tx, Attempt.at(site, person.email, address), now)
        stored = await find_password(tx, site, person.email)
    if not await is_right(password, stored):
        raise _wrong_password(session, field, address)
    return stored


def _wrong_password(session: Session, field: str, address: str) -> DomainError:
    log_failure(site_of(session.person), session.person, address, "again")
    return invalid(field, "is wrong")
