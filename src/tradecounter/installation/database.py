"""`tradecounter db`: the schema, and a database that was restored from a backup."""

from typing import Annotated

import typer

from tradecounter.db.migrate import upgrade
from tradecounter.edge.command_line.arguments import LARGEST_ID
from tradecounter.edge.command_line.output import AsJson, show
from tradecounter.edge.command_line.session import (
    database_url,
    fail,
    reporting_errors,
    require_usable_schema,
    run_change,
)
from tradecounter.installation.recovery.continue_after_restore import (
    EVENTS_PER_ID,
    Continuation,
    continue_after_restore,
)
from tradecounter.settings import read_settings

app = typer.Typer(no_args_is_help=True, help="The database: its schema, and what a restored one needs.")


@app.command("upgrade")
def run_upgrade(as_json: AsJson = False) -> None:
    """Upgrade the schema to the newest revision; creates the embedded database if it does not exist."""
    with reporting_errors(), database_url(read_settings(), create=True) as url:
        state = upgrade(url, report=lambda line: typer.echo(line, err=True))
    show({"revision": state.revision}, f"the schema is at revision {state.revision}", as_json=as_json)


@app.command("check")
def check(as_json: AsJson = False) -> None:
    """Check that this version works with the schema; exits with status 1 if not."""
    with reporting_errors(), database_url(read_settings()) as url:
        state = require_usable_schema(url)
    newer = f"is newer than this version and works with it, at revision {state.revision}"
    shown = f"the schema is current, at revision {state.revision}" if state.current else f"the schema {newer}"
    show({"revision": state.revision}, shown, as_json=as_json)


@app.command("restored")
def restored(
    last_invoice: Annotated[
        int,
        typer.Option(min=0, max=LARGEST_ID, metavar="N", help="The last invoice that was ever issued, also if lost."),
    ],
    last_credit_note: Annotated[
        int, typer.Option(min=0, max=LARGEST_ID, metavar="N", help="The last credit note that was ever issued.")
    ],
    skip: Annotated[
        int,
        typer.Option(
            min=0,
            max=1_000_000_000,
            metavar="N",
            help="Ids and order numbers to leave out, more than the lost data had; "
            f"of sequences of events {EVENTS_PER_ID} times as many.",
        ),
    ] = 10_000,
    yes: Annotated[bool, typer.Option("--yes", help="The database was restored, and no service runs.")] = False,
    as_json: AsJson = False,
) -> None:
    """Prepare a database that was restored from a backup, before services start: no number comes twice."""
    if not yes:
        fail(_WHAT_IT_DOES.format(skip=skip))
    continuation = run_change(
        lambda tx, now: continue_after_restore(
            tx, last_invoice=last_invoice, last_credit_note=last_credit_note, ids=skip, now=now
        )
    )
    show(continuation, "\n".join(_in_words(continuation)), as_json=as_json)


_WHAT_IT_DOES = (
    "this is for a database that was restored from a backup: it leaves out {skip} ids and order numbers, ends all"
    " sessions and unused links, and tells all readers of events. Nothing was changed; repeat the command with --yes"
)


def _in_words(continuation: Continuation) -> list[str]:
    until = (
        "nothing"
        if continuation.kept_until is None
        else f"the last change was at {continuation.kept_until:%Y-%m-%d %H:%M:%S} UTC"
    )
    lines = [f"{until}, the last event had sequence {continuation.last_sequence}"]
    for what, lost in (("invoices", continuation.lost_invoices), ("credit notes", continuation.lost_credit_notes)):
        if lost is not None:
            lines.append(f"{what} {lost[0]} to {lost[1]} are recorded as lost")
    return [*lines, f"{continuation.ids_left_out} order numbers and ids are left out; services may start"]
