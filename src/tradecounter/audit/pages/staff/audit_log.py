"""`/audit`: who changed what, and when."""

from msgspec import Struct

from tradecounter.audit.queries import AuditFilter, AuditRecord, list_entries
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.tables import Column, Order, TableParameters
from tradecounter.edge.page_kit.values import short_code
from tradecounter.edge.pages.listing import At, table_page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.subjects import path_of_subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.days import end_of, start_of
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.shown_changes import Change, changes_of

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


class AuditTable(TableParameters, frozen=True, kw_only=True, rename={"since": "from", "until": "to"}):
    """The filters of the audit log; both days are included."""

    actor: str | None = None
    subject: str | None = None
    action: str | None = None
    since: str | None = None
    until: str | None = None


class ShownEntry(Struct, frozen=True):
    """An entry with its changes; `path` is the page of its subject, if there is one.

    `follows` is whether the entry above is of the same actor, subject and minute.
    """

    record: AuditRecord
    kind: str
    changes: list[Change]
    path: str
    follows: bool

    @property
    def subject(self) -> str:
        """The subject with a confirmation code shortened."""
        noun, _, name = self.record.subject.partition("/")
        return f"{noun}/{short_code(name)}" if name else noun

    @property
    def actor(self) -> str:
        """The actor as the filter takes it."""
        record = self.record
        return f"{record.actor_kind}/{record.actor_id}" if record.actor_id else record.actor_name or record.actor_kind


class AuditPages(Struct, frozen=True):
    """The audit log."""

    desk: PageDesk
    parts: OfficeParts

    @table_page(
        "/audit",
        "Audit",
        columns=_COLUMNS,
        order=Order({"id": int}, "-id", lambda row, _: (row.record.id, row.record.id)),
        template="audit/list.html",
        file="audit",
        cells={name: f"record.{name}" for name in _RECORDED},
        scope="audit:read",
    )
    async def list_entries(self, tx: Transaction, call: Call, wanted: AuditTable, at: At) -> list[ShownEntry]:
        chosen = AuditFilter(
            actor=text("actor", wanted.actor) or None,
            subject=text("subject", wanted.subject) or None,
            action=text("action", wanted.action) or None,
            since=start_of("from", wanted.since),
            until=end_of("to", wanted.until),
            before=None if at["after"] is None else at["after"][1],
        )
        records = await list_entries(tx, chosen, wanted.most, latest_first=True)
        return [
            ShownEntry(
                record,
                KINDS.get(record.actor_kind, record.actor_kind),
                changes_of(record),
                path_of_subject(record.subject, self.desk.view(call).may),
                follows=above is not None and _place_of(above) == _place_of(record),
            )
            for above, record in zip([None, *records], records, strict=False)
        ]


def _place_of(record: AuditRecord) -> tuple[object, ...]:
    minute = record.at.replace(second=0, microsecond=0)
    return (record.actor_kind, record.actor_id, record.actor_name, record.acting_user, record.subject, minute)
