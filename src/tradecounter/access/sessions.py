"""Sessions at both sites: how they begin and are found.

The cookie has 32 random bytes, the database only their hash. Each request looks its session up, so ending it,
disabling the person or blocking the customer signs out at the next request.
"""

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta

from tradecounter.access.queries.sessions import find_session_by_hash, insert_session, sessions_of, set_seen
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import Site
from tradecounter.edge.session import Session
from tradecounter.identity.secret_hash import secret_hash
from tradecounter.kit.text import one_line

IDLE: Mapping[Site, timedelta] = {"staff": timedelta(hours=8), "account": timedelta(hours=12)}
LONGEST = timedelta(days=30)
_SECOND_STEP = timedelta(minutes=10)  # from the right password to the code
_PROVEN = timedelta(minutes=10)
_SEEN_EVERY = timedelta(minutes=1)
_LONGEST_BROWSER = 300
_BYTES = 32


async def start_session(tx: Transaction, site: Site, person_id: int, address: str, browser: str, now: datetime) -> str:
    """Start a session and return the cookie's value."""
    value, _ = await begin(tx, site, person_id, address, browser, now)
    return value


async def begin(
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

    With `needs_second_factor`, only `find_half_session` finds it.
    """
    value = secrets.token_urlsafe(_BYTES)
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
    """Return the session of a cookie, and record its use at most once a minute.

    None when it has ended, was idle too long or is too old, when its person is disabled or the customer blocked.
    """
    found = await find_session_by_hash(
        tx, site, secret_hash(value), now - IDLE[site], now - LONGEST, needs_second_factor=False
    )
    if found is not None and found.seen_at <= now - _SEEN_EVERY:
        await set_seen(tx, found.id, now)
    return found


async def find_half_session(tx: Transaction, site: Site, value: str, now: datetime) -> Session | None:
    """Return the session of a cookie whose person has not entered the second factor yet, for ten minutes."""
    oldest = now - _SECOND_STEP
    return await find_session_by_hash(tx, site, secret_hash(value), oldest, oldest, needs_second_factor=True)


async def list_sessions(tx: Transaction, site: Site, person_id: int, now: datetime) -> list[Session]:
    """Return a person's sessions, the last used first."""
    return await sessions_of(tx, site, person_id, now - IDLE[site], now - LONGEST)


def recently_proven(session: Session, now: datetime) -> bool:
    """Return whether the password or a code was asked for within the last ten minutes."""
    return session.proven_at > now - _PROVEN
