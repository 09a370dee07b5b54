"""`tradecounter audit`: the audit log."""

from typing import Annotated, Any

import typer
from msgspec.structs import asdict

from tradecounter.audit.queries import AuditFilter, list_entries
from tradecounter.audit.wire import AuditEntry, entry_on_the_wire
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import Limit, Since, Until
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import LISTED, Prose

_COLUMNS = ("id", "at", Prose("actor"), "action", "subject", Prose("before"), Prose("after"), "address")


def _for_people(entry: AuditEntry) -> dict[str, Any]:
    actor = entry.actor
    named = f"{actor.name} ({actor.kind}{'' if actor.id is None else f' {actor.id}'})"
    acting = "" if actor.acting_user is None else f" for {actor.acting_user}"
    return {**asdict(entry), "actor": named + acting}


@lists_records(_COLUMNS, in_table=_for_people)
async def audit(
    tx: Transaction,
    subject: Annotated[
        str | None, typer.Option(metavar="S", help="Only changes of this, such as order/ORD-100001 or customer/1001.")
    ] = None,
    actor: Annotated[
        str | None,
        typer.Option(metavar="A", help="Only changes by this name, id or kind, or for this user of a program."),
    ] = None,
    action: Annotated[
        str | None, typer.Option(metavar="A", help="Only this action, such as order.cancel, or its noun alone: order.")
    ] = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = LISTED,
) -> list[AuditEntry]:
    """List who changed what, the latest first."""
    wanted = AuditFilter(subject=subject, actor=actor, action=action, since=since, until=until)
    return [entry_on_the_wire(record) for record in await list_entries(tx, wanted, limit, latest_first=True)]
