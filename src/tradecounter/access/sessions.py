"""Sessions at both sites: how they begin, are found and end; the browsers in which a person has signed in.

The cookie has 32 random bytes, the database only their hash. Each request looks its session up, so ending it, disabling
the person or blocking the customer signs out at the next request.
"""

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta

from tradecounter.access.queries.passwords import delete_unused_links
from tradecounter.access.queries.sign_ins import (
    end_everybodys_sessions,
    end_session,
    end_sessions_of,
    find_session_by_hash,
    insert_session,
    is_of_blocked_customer,
    see_browser,
    sessions_of,
    set_seen,
)
from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import Site, noun_of, site_of, subject_of
from tradecounter.edge.session import KeptOutError, Session
from tradecounter.identity.credentials import secret_hash
from tradecounter.kit.errors import or_not_found
from tradecounter.kit.text import one_line

IDLE: Mapping[Site, timedelta] = {"staff": timedelta(hours=8), "account": timedelta(hours=12)}
LONGEST = timedelta(days=30)
ACCOUNT_BLOCKED = "your account is blocked: ask support"
_PROVEN = timedelta(minutes=10)
_SEEN_EVERY = timedelta(minutes=1)
_LONGEST_BROWSER = 300
_SESSION_BYTES = 32


async def start_session(
    tx: Transaction,
    site: Site,
    person_id: int,
    address: str,
    browser: str,
    now: datetime,
    *,
    needs_second_factor: bool = False,
) -> tuple[str, int]:
    """Start a session and return the cookie's value and the session's id.

    One that needs the second factor is a half session, which only `half_session` finds.
    """
    value = secrets.token_urlsafe(_SESSION_BYTES)
    session_id = await insert_session(
        tx,
        secret_hash(value),
        site,
        person_id,
        address,
        one_line(browser)[:_LONGEST_BROWSER],
        now,
        needs_second_factor=needs_second_factor,
    )
    return value, session_id


async def find_session(tx: Transaction, site: Site, value: str, now: datetime) -> Session | None:
    """Return the session of a cookie.

    None when it has ended, was idle too long or is too old, when its person is disabled or the customer blocked.
    """
    return await find_session_by_hash(
        tx, site, secret_hash(value), now - IDLE[site], now - LONGEST, needs_second_factor=False
    )


async def touch_session(tx: Transaction, site: Site, value: str, now: datetime) -> Session | None:
    """Return what `find_session` does, and record the session's use at most once a minute."""
    session = await find_session(tx, site, value, now)
    if session is not None and session.seen_at <= now - _SEEN_EVERY:
        await set_seen(tx, session.id, now)
    return session


async def require_unblocked(tx: Transaction, value: str) -> None:
    """Raise KeptOutError if a cookie is of a user whose customer is blocked."""
    if await is_of_blocked_customer(tx, secret_hash(value)):
        raise KeptOutError(ACCOUNT_BLOCKED)


async def list_sessions(tx: Transaction, site: Site, person_id: int, now: datetime) -> list[Session]:
    """Return a person's sessions, the last used first."""
    return await sessions_of(tx, site, person_id, now - IDLE[site], now - LONGEST)


def recently_proven(session: Session, now: datetime) -> bool:
    """Return whether the password or a code was asked for within the last ten minutes."""
    return session.proven_at > now - _PROVEN


async def end_own_session(tx: Transaction, own: Session, session_id: int, now: datetime) -> None:
    """End one of the sessions of the signed-in person. Raises DomainError (not found), also for another person's."""
    sessions = await list_sessions(tx, site_of(own.person), own.person.id, now)
    session = or_not_found(next((each for each in sessions if each.id == session_id), None), "session", session_id)
    await end_session(tx, session.id, now)
    shown = {"address": session.address, "browser": session.browser}
    audit(tx, f"{noun_of(own.person)}.end_session", subject_of(own.person), now, before=shown)


async def end_other_sessions(tx: Transaction, session: Session, now: datetime) -> None:
    """End all sessions of the signed-in person but its present one."""
    ended = await end_sessions_of(tx, site_of(session.person), session.person.id, now, but=session.id)
    if ended:
        audit(tx, f"{noun_of(session.person)}.end_sessions", subject_of(session.person), now, after={"ended": ended})


async def end_all_access(tx: Transaction, now: datetime) -> None:
    """End all sessions and all one-time links, of both sites."""
    await end_everybodys_sessions(tx, now)
    await delete_unused_links(tx)


_BROWSER_BYTES = 16
_LONGEST_MARK = 64


async def see_visitor(tx: Transaction, site: Site, person_id: int, mark: str, now: datetime) -> tuple[str, bool]:
    """Return the mark that a browser has or gets, and whether the person has signed in with it before."""
    if not mark or len(mark) > _LONGEST_MARK:
        mark = secrets.token_urlsafe(_BROWSER_BYTES)
    return mark, await see_browser(tx, site, person_id, secret_hash(mark), now)
