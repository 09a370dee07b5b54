"""One-time links to set a password; changing a password, and asking for it again before dangerous steps."""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

from tradecounter.access.guessing import Attempt, count_attempt, forget_attempts, log_failure
from tradecounter.access.passwords import hash_password, is_right
from tradecounter.access.queries.passwords import (
    LinkRecord,
    find_hash_of_link,
    find_link,
    has_link_since,
    insert_link,
    insert_request,
    take_request,
    use_link,
)
from tradecounter.access.queries.people import find_password, find_person, store_password
from tradecounter.access.queries.sign_ins import end_all_sessions, prove_session
from tradecounter.access.rules import LONGEST_EMAIL, RESET_LIFETIME, check_password
from tradecounter.access.second_factor import WRONG_CODE, SignInPolicy, has_factor, use_second_factor
from tradecounter.access.sessions import start_session
from tradecounter.audit.record import audit
from tradecounter.db.jobs import queue
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.edge.people import Site, actor_of, noun_of, site_of, subject_of
from tradecounter.edge.session import Session
from tradecounter.identity.credentials import secret_hash
from tradecounter.identity.installation_secret import derived_key
from tradecounter.kit.actor import Actor
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.settings import Settings

PAGE = "set-password?token="  # of each site; the secret is in the query, which logs do not contain
_ID_BITS = 62
_PUBLIC = "http://127.0.0.1:8000"  # where the commands listen by default
_BACK_OFFICE = "http://127.0.0.1:8001"


async def make_link(
    tx: Transaction, site: Site, person_id: int, secret: str, now: datetime, lifetime: timedelta
) -> int:
    """Make a link for a person of a site, and return its id; earlier links of the person end.

    `secret` is the installation's secret key, from which `link_token` derives the link's own.
    """
    link_id = secrets.randbits(_ID_BITS)
    digest = secret_hash(link_token(secret, link_id))
    await insert_link(tx, site, person_id, link_id, digest, now, now + lifetime)
    return link_id


def link_token(secret: str, link_id: int) -> str:
    """Return the secret of a link."""
    return derived_key(secret, f"one-time link {link_id}")


async def token_of_link(tx: Transaction, link_id: int, secret_keys: Sequence[str]) -> str | None:
    """Return the secret of a link, whichever of the secret keys it was derived from; None if that key is gone."""
    digest = await find_hash_of_link(tx, link_id)
    tokens = (link_token(secret_key, link_id) for secret_key in secret_keys)
    return next((token for token in tokens if secret_hash(token) == digest), None)


def public_address(base_url: str | None, path: str) -> str:
    """Return the address of a path on the customers' site."""
    return f"{base_url or _PUBLIC}{path}"


def site_address(site: Site, base_url: str | None, page: str) -> str:
    """Return the address of a page of a site, at the address in the settings, or at the commands' default."""
    if site == "staff":
        return f"{base_url or _BACK_OFFICE}/{page}"
    return f"{base_url or _PUBLIC}/account/{page}"


def staff_address(settings: Settings, token: str) -> str:
    """Return the address at which a staff member sets its password."""
    return site_address("staff", settings.backoffice_url, f"{PAGE}{token}")


def user_address(base_url: str | None, token: str) -> str:
    """Return the address at which a customer's user sets its password."""
    return site_address("account", base_url, f"{PAGE}{token}")


async def open_link(database: Database, site: Site, token: str, now: datetime) -> LinkRecord:
    """Return what a link is for. Raises DomainError: gone (unknown, used, expired, or of the other site)."""
    async with reading(database) as tx:
        link = await find_link(tx, secret_hash(token), now)
    if link is None or link.site != site:
        raise _ended()
    return link


async def set_password(
    database: Database, site: Site, token: str, password: str, now: datetime, address: str | None = None
) -> None:
    """Set the password of the person whom a link was made for; the link and the person's sessions end.

    Raises DomainError: gone (as `open_link`), invalid (the password).
    """
    link = await open_link(database, site, token, now)
    check_password(password, (link.email, link.name))
    password_hash = await hash_password(password)  # with no transaction open: it may wait for others
    noun: Literal["staff", "user"] = "staff" if site == "staff" else "user"
    async with transaction(database, Actor(noun, link.email, link.person_id, address=address)) as tx:
        if not await use_link(tx, link.id, now):
            raise _ended()
        await store_password(tx, site, link.person_id, password_hash)
        await end_all_sessions(tx, site, link.person_id, now, but=None)
        audit(tx, f"{noun}.set_password", f"{noun}/{link.email}", now)


def _ended() -> DomainError:
    return DomainError(Kind.GONE, "this link has been used or has expired; ask for another one")


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
    await _prove_password(database, session, current, "current_password", address, now)
    password_hash = await hash_password(password)
    async with transaction(database, actor_of(person, address)) as tx:
        await store_password(tx, site, person.id, password_hash)
        await end_all_sessions(tx, site, person.id, now, but=None)
        audit(tx, f"{noun_of(person)}.change_password", subject_of(person), now)
        return await start_session(tx, site, person.id, address, session.browser, now)


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
        await forget_attempts(tx, Attempt.at(site_of(person), person.email, address))
        await prove_session(tx, session.id, now)
        audit(tx, f"{noun_of(person)}.prove", subject_of(person), now)


async def ask_for_password_link(tx: Transaction, site: Site, email: str, address: str, now: datetime) -> None:
    """Have a link to set a new password mailed, if the address is a person's; ten requests of an address are free.

    Does the same for every address; the worker looks it up. Raises DomainError (too many requests).
    """
    await count_attempt(tx, Attempt.for_link(address), now)
    request_id = await insert_request(tx, site, email.strip()[:LONGEST_EMAIL], now)
    await queue(tx, "find_forgotten_password", request_id=request_id)


async def mail_password_link(tx: Transaction, request_id: int, secret: str, now: datetime) -> None:
    """Queue the e-mail for a request of `ask_for_password_link`; nothing for an unknown or a disabled person."""
    request = await take_request(tx, request_id)
    person = None if request is None else await find_person(tx, request.site, request.email)
    if person is None or person.disabled_at is not None:
        return
    site = site_of(person)
    if not await has_link_since(tx, site, person.id, now - _BETWEEN_MAILS):
        link_id = await make_link(tx, site, person.id, secret, now, RESET_LIFETIME)
        await queue(tx, "mail_user_password", link_id=link_id)


async def _prove_password(
    database: Database, session: Session, password: str, field: str, address: str, now: datetime
) -> None:
    """Raise DomainError unless the password is the session's person's: invalid, too many requests."""
    person = session.person
    site = site_of(person)
    attempt = Attempt.at(site, person.email, address)
    async with transaction(database) as tx:
        await count_attempt(tx, attempt, now)
        stored = await find_password(tx, site, person.email)
    if not await is_right(password, stored):
        log_failure(site, person, address, "again")
        raise invalid(field, "is wrong")
    async with transaction(database) as tx:
        await forget_attempts(tx, attempt)
