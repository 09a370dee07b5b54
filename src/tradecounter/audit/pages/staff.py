"""`/audit` and `/audit/summary`: who changed what and when, and how much of it in a period."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from msgspec import Struct

from tradecounter.audit.queries import DONE_BY_ACTORS, AuditFilter, AuditRecord, DoneByActor, DoneFilter, list_entries
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.tables import Column, Filter, TableOrder, TableParameters
from tradecounter.edge.page_kit.values import short_code
from tradecounter.edge.pages.listing import Listing, RowsToRead, table_page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.days import PERIOD_NAMES, end_of, start_of
from tradecounter.kit.clock import day_begins, uk_date, whole_minute
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.sentences import ShownChange, changes_of

_COLUMNS = (Column("When"), Column("Who"), Column("What"), Column("Of"), Column("Before → after"))
_RECORDED = (
    "id", "at", "actor_kind", "actor_id", "actor_name", "acting_user", "address", "action", "subject", "before",
    "after",
)  # fmt: skip
KINDS = {
    "staff": "staff",
    "token": "service token",
    "user": "customer's user",
    "key": "API key",
    "agent": "agent",
    "command_line": "command line",
    "system": "the service",
}


class AuditTable(TableParameters, frozen=True, kw_only=True, rename=PERIOD_NAMES):
    """The filters of the audit log; both days are included."""

    actor: Annotated[str | None, Filter("Who")] = None
    action: Annotated[str | None, Filter("What")] = None
    subject: Annotated[str | None, Filter("Of")] = None
    since: Annotated[str | None, Filter("From", "date", more=True)] = None
    until: Annotated[str | None, Filter("Until", "date", more=True)] = None


class ShownEntry(Struct, frozen=True):
    """An entry with its changes; `follows` is whether the entry above is of the same actor, subject and minute."""

    record: AuditRecord
    kind: str
    changes: list[ShownChange]
    follows: bool

    @property
    def subject(self) -> str:
        """The subject with a confirmation code shortened."""
        noun, _, name = self.record.subject.partition("/")
        return f"{noun}/{short_code(name)}" if name else noun

    @property
    def actor(self) -> str:
        """The actor as the filter takes it."""
        return _named(self.record)


class AuditPages(Struct, frozen=True):
    """The audit log."""

    desk: PageDesk
    parts: OfficeParts

    @table_page(
        "/audit",
        "Audit",
        columns=_COLUMNS,
        order=TableOrder({"id": int}, "-id", lambda row, _: (row.record.id, row.record.id)),
        template="audit/list.html",
        file="audit",
        cells={name: f"record.{name}" for name in _RECORDED},
        scope="audit:read",
    )
    async def list_entries(self, tx: Transaction, call: Call, wanted: AuditTable, at: RowsToRead) -> list[ShownEntry]:
        audit_filter = AuditFilter(
            actor=text("actor", wanted.actor) or None,
            subject=text("subject", wanted.subject) or None,
            action=text("action", wanted.action) or None,
            since=start_of("from", wanted.since),
            until=end_of("to", wanted.until),
            before=None if at["after"] is None else at["after"][1],
        )
        records = await list_entries(tx, audit_filter, wanted.most, latest_first=True)
        return [
            ShownEntry(
                record,
                KINDS.get(record.actor_kind, record.actor_kind),
                changes_of(record),
                follows=above is not None and _place_of(above) == _place_of(record),
            )
            for above, record in zip([None, *records], records, strict=False)
        ]


def _place_of(record: AuditRecord) -> tuple[object, ...]:
    minute = whole_minute(record.at)
    return (record.actor_kind, record.actor_id, record.actor_name, record.acting_user, record.subject, minute)


_SUMMARY_COLUMNS = (
    Column("Who", "who"),
    Column("What", "what"),
    Column("How often", "entries", numeric=True),
    Column("Of how many", numeric=True),
    Column("Last", "last"),
)
_HEADINGS = ("actor_kind", "actor_id", "actor_name", "acting_user", "action", "entries", "subjects", "last_at")
Side = Literal["staff", "customers", "service"]
_SIDES: Mapping[Side, tuple[str, Sequence[str]]] = {
    "staff": ("Staff", ("staff", "token", "command_line")),
    "customers": ("Customers", ("user", "key", "agent")),
    "service": ("The service", ("system",)),
}
_WITHOUT_A_DAY = timedelta(days=29)


class SummaryTable(TableParameters, frozen=True, kw_only=True, rename=PERIOD_NAMES):
    """The filters of the summary; both days are included. Without a first day, it has 30 days."""

    side: Annotated[Side, Filter("By", "select")] = "staff"
    since: Annotated[str | None, Filter("From", "date")] = None
    until: Annotated[str | None, Filter("Until", "date")] = None

    def period(self, now: datetime) -> tuple[datetime, datetime]:
        """Return the first moment, and the first one after the last day. Raises DomainError (invalid)."""
        first = start_of("from", self.since) or day_begins(uk_date(now - _WITHOUT_A_DAY))
        return first, end_of("to", self.until) or now + timedelta(days=1)


class AuditSummaryPages(Struct, frozen=True):
    """The summary of the audit log."""

    desk: PageDesk
    parts: OfficeParts

    async def _values(self, listing: Listing[SummaryTable, DoneByActor], now: datetime) -> dict[str, Any]:
        wanted = listing.wanted
        is_valid = not listing.form.errors and not listing.form.message
        first = uk_date(wanted.period(now)[0]) if is_valid else ""

        def entries_path(row: DoneByActor, *, of_action: bool = True) -> str:
            action = {"action": row.action} if of_action else {}
            end = {"to": wanted.until} if wanted.until else {}
            return "/audit?" + urlencode({"actor": row.acting_user or _named(row), **action, "from": str(first), **end})

        sides = [(side, name) for side, (name, _) in _SIDES.items()]
        return {"entries_path": entries_path, "kinds": KINDS, "sides": sides, "first": first}

    @table_page(
        "/audit/summary",
        "Who did how much",
        columns=_SUMMARY_COLUMNS,
        order=TableOrder(DONE_BY_ACTORS.sorts, "-entries", DONE_BY_ACTORS.place_of),
        template="audit/summary.html",
        file="audit-summary",
        cells={heading: heading for heading in _HEADINGS},
        values=_values,
        roles=("administrator",),
    )
    async def list_done(
        self, tx: Transaction, now: datetime, wanted: SummaryTable, at: RowsToRead
    ) -> Sequence[DoneByActor]:
        since, until = wanted.period(now)
        done_filter = DoneFilter(since=since, until=until, kinds=list(_SIDES[wanted.side][1]))
        return await DONE_BY_ACTORS.page(tx, done_filter, **at)


def _named(record: AuditRecord | DoneByActor) -> str:
    """Return the actor of a record as the filter of the audit log takes it."""
    return f"{record.actor_kind}/{record.actor_id}" if record.actor_id else record.actor_name or record.actor_kind
