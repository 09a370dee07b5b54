"""The SQL of the audit log."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime

from psycopg.sql import SQL

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

INSERT = Statement("""
    insert into audit_entry (at, actor_kind, actor_id, actor_name, acting_user, address, action, subject, before, after)
    values (:at, :actor_kind, :actor_id, :actor_name, :acting_user, :address, :action, :subject, :before, :after)
""")


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """An entry of the audit log; `before` and `after` are JSON text."""

    id: int
    at: datetime
    actor_kind: str
    actor_id: str | None
    actor_name: str
    acting_user: str | None
    address: str | None
    action: str
    subject: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """What entries must match; None matches all.

    `actor` is an actor's name, id or kind, or the acting user; `until` is exclusive, `older_than` an entry's id.
    """

    subject: str | None = None
    actor: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    older_than: int | None = None


_SELECTED = SQL(
    "select id, at, actor_kind, actor_id, actor_name, acting_user, address, action, subject, before::text as before,"
    " after::text as after from audit_entry where {} order by id desc limit :most"
)
_CONDITIONS = {
    "subject": SQL("subject = :subject"),
    "actor": SQL("(actor_name = :actor or actor_id = :actor or actor_kind = :actor or acting_user = :actor)"),
    "since": SQL("at >= :since"),
    "until": SQL("at < :until"),
    "older_than": SQL("id < :older_than"),
}


async def list_entries(tx: Transaction, wanted: AuditFilter, most: int) -> list[AuditRecord]:
    """Return the entries that match, the latest first."""
    values = {name: value for name, value in asdict(wanted).items() if value is not None}
    conditions = SQL(" and ").join(list(_chosen(values)) or [SQL("true")])
    statement = Statement(_SELECTED.format(conditions), AuditRecord, prepared=False)
    return await tx.fetch_all(statement, **values, most=most)


def _chosen(names: dict[str, object]) -> Iterator[SQL]:
    for name in names:
        yield _CONDITIONS[name]
