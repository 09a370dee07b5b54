"""`/audit/summary`: who did how much of what in a period."""

from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import Any, Literal
from urllib.parse import urlencode

from msgspec import Struct

from tradecounter.audit.pages.staff.audit_log import KINDS
from tradecounter.audit.queries import DONE_BY_ACTORS, DoneByActor, DoneFilter
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.tables import Column, Order, TableParameters
from tradecounter.edge.pages.listing import At, Listed, table_page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.days import end_of, start_of
from tradecounter.kit.local_time import at_uk_time, uk_date
from tradecounter.parts.back_office import OfficeParts

_COLUMNS = (
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


class SummaryTable(TableParameters, frozen=True, kw_only=True, rename={"since": "from", "until": "to"}):
    """The filters of the summary; both days are included. Without a first day, it has 30 days."""

    side: Side = "staff"
    since: str | None = None
    until: str | None = None

    def period(self, now: datetime) -> tuple[datetime, datetime]:
        """Return the first moment, and the first one behind the last day. Raises DomainError (invalid)."""
        first = start_of("from", self.since) or at_uk_time(uk_date(now - _WITHOUT_A_DAY), time())
        return first, end_of("to", self.until) or now + timedelta(days=1)


class AuditSummaryPages(Struct, frozen=True):
    """The summary of the audit log."""

    desk: PageDesk
    parts: OfficeParts

    async def _shown(self, _call: Call, found: Listed[SummaryTable, DoneByActor]) -> dict[str, Any]:
        wanted = found.wanted
        is_valid = not found.form.errors and not found.form.message
        first = uk_date(wanted.period(self.desk.clock.now())[0]) if is_valid else ""

        def entries_path(row: DoneByActor, *, of_action: bool = True) -> str:
            action = {"action": row.action} if of_action else {}
            end = {"to": wanted.until} if wanted.until else {}
            return "/audit?" + urlencode({"actor": _named(row), **action, "from": str(first), **end})

        sides = [(side, name) for side, (name, _) in _SIDES.items()]
        return {"entries_path": entries_path, "kinds": KINDS, "sides": sides, "first": first}

    @table_page(
        "/audit/summary",
        "Who did how much",
        columns=_COLUMNS,
        order=Order(DONE_BY_ACTORS.sorts, "-entries", DONE_BY_ACTORS.place_of),
        template="audit/summary.html",
        file="audit-summary",
        cells={heading: heading for heading in _HEADINGS},
        shown=_shown,
        roles=("administrator",),
    )
    async def list_done(self, tx: Transaction, now: datetime, wanted: SummaryTable, at: At) -> Sequence[DoneByActor]:
        since, until = wanted.period(now)
        chosen = DoneFilter(since=since, until=until, kinds=list(_SIDES[wanted.side][1]))
        return await DONE_BY_ACTORS.page(tx, chosen, **at)


def _named(row: DoneByActor) -> str:
    """Return the actor as the filter of the audit log takes it."""
    if row.acting_user:
        return row.acting_user
    return f"{row.actor_kind}/{row.actor_id}" if row.actor_id else row.actor_name or row.actor_kind
