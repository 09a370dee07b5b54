"""Sessions and known browsers, whose secrets are stored only as hashes, and what of all access is old."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import CustomerUser, Person, Site, StaffMember, owner_of
from tradecounter.edge.session import Session


def _session_row(person: Callable[..., Person]) -> Callable[..., Session]:
    def make(**columns: Any) -> Session:
        own = {name: columns.pop(f"session_{name}") for name in ("id", "created_at")}
        rest = {name: columns.pop(name) for name in ("seen_at", "proven_at", "address", "browser")}
        return Session(**own, **rest, person=person(**columns))

    return make


_OPEN_SESSIONS = SQL("""
    select s.id as session_id, s.created_at as session_created_at, s.seen_at, s.proven_at, s.address, s.browser,
           p.id, p.email, p.name, p.password_hash is not null as has_password, p.created_at, p.disabled_at, {columns}
    from session s {people}
    where {condition} and s.needs_second_factor = :needs_second_factor
      and s.ended_at is null and s.seen_at > :seen_after and s.created_at > :created_after and p.disabled_at is null
    order by s.seen_at desc, s.id desc
""")
_BY_HASH = SQL("s.hash = :hash")
_BY_PERSON = SQL("p.id = :person_id")
_STAFF = {"columns": SQL("p.roles"), "people": SQL("join staff_member p on p.id = s.staff_id")}
_USERS = {
    "columns": SQL("p.customer_id, p.role, p.more_roles, p.order_limit"),
    "people": SQL(
        "join customer_user p on p.id = s.user_id join customer c on c.id = p.customer_id and c.blocked_at is null"
    ),
}
_FIND_SESSION: Mapping[Site, Statement[Session]] = {
    "staff": Statement(_OPEN_SESSIONS.format(condition=_BY_HASH, **_STAFF), _session_row(StaffMember)),
    "account": Statement(_OPEN_SESSIONS.format(condition=_BY_HASH, **_USERS), _session_row(CustomerUser)),
}
_SESSIONS_OF: Mapping[Site, Statement[Session]] = {
    "staff": Statement(_OPEN_SESSIONS.format(condition=_BY_PERSON, **_STAFF), _session_row(StaffMember)),
    "account": Statement(_OPEN_SESSIONS.format(condition=_BY_PERSON, **_USERS), _session_row(CustomerUser)),
}


async def find_session_by_hash(
    tx: Transaction,
    site: Site,
    digest: bytes,
    seen_after: datetime,
    created_after: datetime,
    *,
    needs_second_factor: bool,
) -> Session | None:
    """Return the open session with a hash, unless it is too old or its person may not sign in."""
    return await tx.find_row(
        _FIND_SESSION[site],
        hash=digest,
        seen_after=seen_after,
        created_after=created_after,
        needs_second_factor=needs_second_factor,
    )


_IS_OF_BLOCKED = Statement("""
    select exists (
        select from session s join customer_user p on p.id = s.user_id join customer c on c.id = p.customer_id
        where s.hash = :hash and s.ended_at is null and p.disabled_at is null and c.blocked_at is not null)
""")


async def is_of_blocked_customer(tx: Transaction, digest: bytes) -> bool:
    """Return whether the session with a hash is of a user whose customer is blocked."""
    found: bool = await tx.fetch_value(_IS_OF_BLOCKED, hash=digest)
    return found


async def sessions_of(
    tx: Transaction, site: Site, person_id: int, seen_after: datetime, created_after: datetime
) -> list[Session]:
    """Return a person's open sessions, the last used first."""
    return await tx.fetch_all(
        _SESSIONS_OF[site],
        person_id=person_id,
        seen_after=seen_after,
        created_after=created_after,
        needs_second_factor=False,
    )


class SignInFacts(Struct, frozen=True):
    """Whose sign-in it was, and from where."""

    staff_id: int | None
    user_id: int | None
    created_at: datetime
    address: str
    browser: str


_SIGN_IN_FACTS = Statement(
    "select staff_id, user_id, created_at, address, browser from session where id = :id", SignInFacts
)


async def find_sign_in_facts(tx: Transaction, session_id: int) -> SignInFacts | None:
    """Return what a mail tells about a sign-in, also when its session has ended."""
    return await tx.find_row(_SIGN_IN_FACTS, id=session_id)


_INSERT_SESSION = Statement(
    "insert into session"
    " (hash, staff_id, user_id, needs_second_factor, created_at, seen_at, proven_at, address, browser)"
    " values (:hash, :staff_id, :user_id, :needs_second_factor, :now, :now, :now, :address, :browser) returning id"
)


async def insert_session(
    tx: Transaction,
    digest: bytes,
    site: Site,
    person_id: int,
    address: str,
    browser: str,
    now: datetime,
    *,
    needs_second_factor: bool,
) -> int:
    """Store a session and return its id."""
    session_id: int = await tx.fetch_value(
        _INSERT_SESSION,
        hash=digest,
        needs_second_factor=needs_second_factor,
        address=address,
        browser=browser,
        now=now,
        **owner_of(site, person_id),
    )
    return session_id


# A request must not wait for a change of the session: its commit may wait for a replica.
_SEE_SESSION = Statement(
    """
    update session set seen_at = :now
    where id = (select id from session where id = :id for no key update skip locked)
    """
)


async def set_seen(tx: Transaction, session_id: int, now: datetime) -> None:
    """Record that a session was used, unless another request does so."""
    tx.commit_at_once()
    await tx.execute(_SEE_SESSION, id=session_id, now=now)


_PROVE_SESSION = Statement("update session set proven_at = :now where id = :id")


async def prove_session(tx: Transaction, session_id: int, now: datetime) -> None:
    """Record that a session's person has just entered the password or a code."""
    await tx.execute(_PROVE_SESSION, id=session_id, now=now)


_END_SESSION = Statement("update session set ended_at = :now where id = :id and ended_at is null")


async def end_session(tx: Transaction, session_id: int, now: datetime) -> bool:
    """End a session; return False if it has ended before, and stays as it is."""
    return await tx.execute(_END_SESSION, id=session_id, now=now) == 1


_END_SESSIONS_OF = Statement("""
    update session set ended_at = :now
    where (staff_id = :staff_id or user_id = :user_id) and ended_at is null and id is distinct from :but
""")


async def end_sessions_of(tx: Transaction, site: Site, person_id: int, now: datetime, but: int | None) -> int:
    """End a person's sessions except one, and return how many."""
    return await tx.execute(_END_SESSIONS_OF, now=now, but=but, **owner_of(site, person_id))


_END_EVERYBODYS_SESSIONS = Statement("update session set ended_at = :now where ended_at is null")


async def end_everybodys_sessions(tx: Transaction, now: datetime) -> int:
    """End everybody's sessions, and return how many."""
    return await tx.execute(_END_EVERYBODYS_SESSIONS, now=now)


_SEE_BROWSER = Statement("""
    update known_browser set seen_at = :now where hash = :hash and (staff_id = :staff_id or user_id = :user_id)
""")
_ADD_BROWSER = Statement("""
    insert into known_browser (hash, staff_id, user_id, seen_at) values (:hash, :staff_id, :user_id, :now)
    on conflict do nothing
""")


async def see_browser(tx: Transaction, site: Site, person_id: int, digest: bytes, now: datetime) -> bool:
    """Record that a person signs in in a browser; return whether the person has done so before."""
    owner = owner_of(site, person_id)
    if await tx.execute(_SEE_BROWSER, hash=digest, now=now, **owner):
        return True
    await tx.execute(_ADD_BROWSER, hash=digest, now=now, **owner)
    return False


_OLD_LINKS = Statement("delete from one_time_link where expires_at < :before")
_OLD_SESSIONS = Statement("delete from session where seen_at < :before or ended_at < :before")
_OLD_REQUESTS = Statement("delete from forgotten_password where created_at < :before")
_OLD_BROWSERS = Statement("delete from known_browser where seen_at < :before")
_OLD_GUESSES = Statement("delete from password_failure where failed_at < :before")


async def delete_old_access(tx: Transaction, *, ended: datetime, unused: datetime, failed: datetime) -> int:
    """Delete what is from before three moments; return how many.

    These are links and sessions that have `ended`, with requests for a password; browsers that are `unused`; and wrong
    passwords that have `failed`.
    """
    return (
        await tx.execute(_OLD_LINKS, before=ended)
        + await tx.execute(_OLD_SESSIONS, before=ended)
        + await tx.execute(_OLD_REQUESTS, before=ended)
        + await tx.execute(_OLD_BROWSERS, before=unused)
        + await tx.execute(_OLD_GUESSES, before=failed)
    )
