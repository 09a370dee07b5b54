"""Ends a person's sessions, with entries in the audit log, and all access of a disabled person."""

from datetime import datetime

from tradecounter.access.queries.links import delete_unused_links
from tradecounter.access.queries.sessions import end_all_sessions, end_everybodys_sessions, end_session
from tradecounter.access.sessions import list_sessions
from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import noun_of, site_of, subject_of
from tradecounter.edge.session import Session
from tradecounter.kit.errors import or_not_found


async def end_own_session(tx: Transaction, own: Session, session_id: int, now: datetime) -> None:
    """End one of the sessions of the signed-in person. Raises DomainError (not found), also for another person's."""
    sessions = await list_sessions(tx, site_of(own.person), own.person.id, now)
    found = or_not_found(next((each for each in sessions if each.id == session_id), None), "session", session_id)
    await end_session(tx, found.id, now)
    shown = {"address": found.address, "browser": found.browser}
    audit(tx, f"{noun_of(own.person)}.end_session", subject_of(own.person), now, before=shown)


async def end_other_sessions(tx: Transaction, own: Session, now: datetime) -> None:
    """End all sessions of the signed-in person but its present one."""
    ended = await end_all_sessions(tx, site_of(own.person), own.person.id, now, but=own.id)
    if ended:
        audit(tx, f"{noun_of(own.person)}.end_sessions", subject_of(own.person), now, after={"ended": ended})


async def end_all_access(tx: Transaction, now: datetime) -> None:
    """End all sessions and all one-time links, of both sites."""
    await end_everybodys_sessions(tx, now)
    await delete_unused_links(tx)
