"""Reads the audit log."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.sql import SQL

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """An entry of the log."""

    id: int
    at: datetime
    actor_kind: str
    actor_id: str | None
    actor_name: str
    acting_user: str | None
    address: str | None
    action: str
    subject: str
    before: dict[str, Any]
    after: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """What entries must match; None matches all. `actor` is a kind with an id, such as `token/3`, or a name."""

    actor: str | None = None
    subject: str | None = None
    since: datetime | None = None
    until: datetime | None = None


_COLUMNS = SQL("id, at, actor_kind, actor_id, actor_name, acting_user, address, action, subject, before, after")

_ENTRIES = Statement(
    SQL("""
        select {} from audit_entry
        where id > :after and (:subject::text is null or subject = :subject)
          and (:actor::text is null or actor_name = :actor or actor_kind || '/' || actor_id = :actor)
          and (:since::timestamptz is null or at >= :since) and (:until::timestamptz is null or at < :until)
        order by id limit :most
    """).format(_COLUMNS),
    AuditRecord,
    prepared=False,
)


async def entries_after(tx: Transaction, wanted: AuditFilter, after: int, most: int) -> list[AuditRecord]:
    """Return the first entries that match a filter and have a higher id."""
    return await tx.fetch_all(
        _ENTRIES,
        actor=wanted.actor,
        subject=wanted.subject,
        since=wanted.since,
        until=wanted.until,
        after=after,
        most=most,
    )


_OF_SUBJECTS = Statement(
    SQL("select {} from audit_entry where subject = any(:subjects) order by id").format(_COLUMNS), AuditRecord
)


async def entries_of(tx: Transaction, subjects: Sequence[str]) -> list[AuditRecord]:
    """Return all entries of some subjects, oldest first."""
    return await tx.fetch_all(_OF_SUBJECTS, subjects=list(subjects))
