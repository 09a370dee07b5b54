"""The SQL of the audit log."""

from collections.abc import Collection, Sequence
from datetime import datetime

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.sorted_rows import SortColumn, SortedTable
from tradecounter.db.statement import Statement, where
from tradecounter.db.transaction import Transaction

INSERT = Statement("""
    insert into audit_entry (at, actor_kind, actor_id, actor_name, acting_user, address, action, subject, before, after)
    values (:at, :actor_kind, :actor_id, :actor_name, :acting_user, :address, :action, :subject, :before, :after)
""")


class AuditRecord(Struct, frozen=True):
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


class AuditFilter(Struct, frozen=True, kw_only=True):
    """What entries must match; None matches all.

    `subject` may be a reference alone, such as `ORD-100001` for `order/ORD-100001`, or a customer's of its orders.
    `action` is an action, such as `order.cancel`, or its noun alone.
    `actor` is an actor's name, id or kind, a kind with an id such as `token/3`, or the acting user; `until` is
    exclusive; entries come after the one with the id `after` and before the one with the id `before`.
    """

    subject: str | None = None
    actor: str | None = None
    action: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    after: int | None = None
    before: int | None = None


# The entries are found first, because a scan of a period sorts all of its entries, and JSON becomes text slowly.
_SELECTED = SQL(
    "select id, at, actor_kind, actor_id, actor_name, acting_user, address, action, subject, before::text as before,"
    " after::text as after from (select * from audit_entry where {conditions} order by id {way} limit :most) as found"
    " order by id {way}"
)
_CONDITIONS = {
    "subject": SQL("subject = any(:subject)"),
    "actor": SQL("(:actor in (actor_name, actor_id, actor_kind, acting_user, actor_kind || '/' || actor_id))"),
    "action": SQL("(action = :action or split_part(action, '.', 1) = :action)"),
    "since": SQL("at >= :since"),
    "until": SQL("at < :until"),
    "after": SQL("id > :after"),
    "before": SQL("id < :before"),
}


# The planner believes that entries of every time are all over the log. So it reads the log from one end until enough
# match, or all of it. With the index of ranges it reads the period only.
_READ_THE_PERIOD = Statement(
    "select set_config('enable_seqscan', :on, true), set_config('enable_indexscan', :on, true)"
)


_NOUNS = (
    "order", "quote", "invoice", "credit-note", "payment", "bank-file", "bank-line", "customer", "product", "return",
    "import", "webhook", "staff", "token", "job", "user", "application", "agent", "feed",
)  # fmt: skip


# Entries name an order by its own reference since its confirmation, and by its code before.
_REFERRED_TO = Statement("""
    select unnest(array['order/' || order_reference, kind || '/' || confirmation_code]) from orders
    where reference_key(customer_reference) = reference_key(:text) order by id desc limit 1000
""")


async def _subjects_of(tx: Transaction, text: str) -> list[str]:
    """Return the subjects that a text may name: itself, what has it as its reference, and a customer's orders."""
    named = [f"{noun}/{name}" for noun in _NOUNS for name in dict.fromkeys((text, text.upper()))]
    return [text, *named, *(subject for (subject,) in await tx.fetch_all(_REFERRED_TO, text=text) if subject)]


async def list_entries(
    tx: Transaction, wanted: AuditFilter, most: int, *, latest_first: bool = False
) -> list[AuditRecord]:
    """Return the first entries that match, or the last ones, beginning with the latest."""
    conditions, values = where(wanted, _CONDITIONS)
    if wanted.subject is not None:
        values["subject"] = await _subjects_of(tx, wanted.subject)
    way = SQL("desc" if latest_first else "asc")
    statement = Statement(_SELECTED.format(conditions=conditions, way=way), AuditRecord)
    from_the_end = latest_first or wanted.after is not None
    if wanted.since is None or (wanted.actor is None and wanted.action is None and from_the_end):
        return await tx.fetch_all(statement, **values, most=most)
    await tx.fetch_all(_READ_THE_PERIOD, on="off")
    rows = await tx.fetch_all(statement, **values, most=most)
    await tx.fetch_all(_READ_THE_PERIOD, on="on")
    return rows


_OF_SUBJECTS = Statement(_SELECTED.format(conditions=SQL("subject = any(:subjects)"), way=SQL("asc")), AuditRecord)


async def entries_of(tx: Transaction, subjects: Sequence[str]) -> list[AuditRecord]:
    """Return all entries of some subjects, oldest first."""
    return await tx.fetch_all(_OF_SUBJECTS, subjects=list(subjects), most=None)


_LATEST_OF = Statement("""
    select subject, max(at) from audit_entry where subject = any(:subjects) and action = :action group by subject
""")


async def latest_of(tx: Transaction, action: str, subjects: Sequence[str]) -> dict[str, datetime]:
    """Return when an action was last done to each subject; subjects without it are missing."""
    return dict(await tx.fetch_all(_LATEST_OF, subjects=list(subjects), action=action))


_ACTORS_AT = Statement("""
    select subject, at, action, coalesce(acting_user, actor_name) from audit_entry
    where subject = any(:subjects) and at = any(:moments) and actor_kind <> 'system' order by id
""")


async def actors_at(
    tx: Transaction, subjects: Collection[str], moments: Collection[datetime]
) -> dict[tuple[str, datetime], list[tuple[str, str]]]:
    """Return what was done to subjects at moments, and who did it; what nobody in particular did is missing."""
    actions: dict[tuple[str, datetime], list[tuple[str, str]]] = {}
    for subject, at, action, name in await tx.fetch_all(_ACTORS_AT, subjects=list(subjects), moments=list(moments)):
        actions.setdefault((subject, at), []).append((action, name))
    return actions


class EntryActor(Struct, frozen=True):
    """When something was done, and the address of the customer's user who did it; None if others did."""

    at: datetime
    user: str | None


_ACTOR_OF_ENTRY = Statement(
    """
    select at, case when actor_kind = 'user' then actor_name end as "user" from audit_entry
    where subject = :subject and action = any(:actions) and (:id::text is null or after ->> 'id' = :id::text)
    order by id desc limit 1
    """,
    EntryActor,
)


async def actor_of_entry(
    tx: Transaction, subject: str, actions: Sequence[str], added_id: int | None = None
) -> EntryActor | None:
    """Return who did the latest of some actions to a subject; with an id, to what it added with that id."""
    text = None if added_id is None else str(added_id)
    return await tx.find_row(_ACTOR_OF_ENTRY, subject=subject, actions=list(actions), id=text)


class DoneByActor(Struct, frozen=True):
    """How often an actor did something in a period, to how many subjects, and when last; `id` is the first entry's."""

    id: int
    actor_kind: str
    actor_id: str | None
    actor_name: str
    acting_user: str | None
    action: str
    entries: int
    subjects: int
    last_at: datetime


class DoneFilter(Struct, frozen=True, kw_only=True):
    """The period of a summary, whose end is exclusive, and the kinds of actors."""

    since: datetime
    until: datetime
    kinds: Sequence[str]


DONE_BY_ACTORS: SortedTable[DoneByActor] = SortedTable(
    select=SQL("""
        select d.* from (
            select min(id) as id, actor_kind, actor_id, max(actor_name) as actor_name, acting_user, action,
                   count(*) as entries, count(distinct subject) as subjects, max(at) as last_at
            from audit_entry where at >= :since and at < :until and actor_kind = any(:kinds)
            group by actor_kind, actor_id, case when actor_id is null then actor_name end, acting_user, action
        ) as d
    """),
    row=DoneByActor,
    conditions={},
    columns={
        "who": SortColumn(
            SQL("coalesce(d.acting_user, d.actor_name)"),
            SQL("text"),
            str,
            lambda row: row.acting_user or row.actor_name,
        ),
        "what": SortColumn(SQL("d.action"), SQL("text"), str, lambda row: row.action),
        "entries": SortColumn(SQL("d.entries"), SQL("bigint"), int, lambda row: row.entries),
        "last": SortColumn(SQL("d.last_at"), SQL("timestamptz"), datetime, lambda row: row.last_at),
    },
    key=SQL("d.id"),
    key_of=lambda row: row.id,
)
