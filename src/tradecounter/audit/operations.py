"""`/api/audit`: the audit log."""

from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta, Raw, Struct

from tradecounter.audit.queries import AuditFilter, list_entries
from tradecounter.audit.wire import AuditActor, AuditEntry, entry_on_the_wire
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Desk, PageParameters, text
from tradecounter.edge.operations.subject import Described, ListPage, Subject
from tradecounter.edge.rest.days import PERIOD_NAMES, time_or_end_of, time_or_start_of

_EXAMPLE = AuditEntry(
    id=87,
    at=datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC),
    actor=AuditActor(kind="token", id=3, name="Warehouse", acting_user="sam@reseller.example"),
    address="192.0.2.10",
    action="stock.adjust",
    subject="product/CV-320P",
    before=Raw(b'{"CV-320P": 118}'),
    after=Raw(b'{"CV-320P": 120, "reason": "Stocktake"}'),
)
_AUDIT = Subject(
    tag="Operations", read="audit:read", write="audit:write", described={AuditEntry: Described("The entry.", _EXAMPLE)}
)


class AuditParameters(PageParameters, frozen=True, kw_only=True, rename=PERIOD_NAMES):
    """The query parameters of `GET /api/audit`."""

    actor: Annotated[
        str | None, Meta(description="Only changes by this actor: a name, or a kind and an id.", examples=["system"])
    ] = None
    subject: Annotated[
        str | None,
        Meta(
            description="Only changes of this; its reference alone will do, also a customer's of an order.",
            examples=["order/ORD-100003"],
        ),
    ] = None
    action: Annotated[
        str | None,
        Meta(description="Only this action, such as `order.cancel`; its noun alone will do.", examples=["order"]),
    ] = None
    since: Annotated[
        str | None, Meta(description="Only changes at this time or later; a date is when that UK day begins.")
    ] = None
    until: Annotated[
        str | None, Meta(description="Only changes before this time; a date includes the whole UK day.")
    ] = None


class AuditOperations(Struct, frozen=True):
    """The endpoints of the audit log."""

    desk: Desk

    @_AUDIT.lists("/api/audit", "The entries.")
    async def list_audit_entries(self, tx: Transaction, query: AuditParameters) -> ListPage[AuditEntry]:
        """Who changed what, and when."""
        audit_filter = AuditFilter(
            actor=text("actor", query.actor),
            subject=text("subject", query.subject),
            action=text("action", query.action),
            since=time_or_start_of("from", query.since),
            until=time_or_end_of("to", query.until),
            after=query.after,
        )
        entries = await list_entries(tx, audit_filter, query.limit + 1)
        return ListPage(entries, map(entry_on_the_wire, entries))
