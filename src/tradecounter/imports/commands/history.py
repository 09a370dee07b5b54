"""`tradecounter imports`: the history of imports, and their roll-back."""

from typing import Annotated

import typer

from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import IdOf, Limit
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import AsJson, Prose, show
from tradecounter.edge.command_line.session import run_change
from tradecounter.imports.queries import ImportRecord, list_imports
from tradecounter.imports.run import RolledBackImport, roll_back_import

app = typer.Typer(no_args_is_help=True, help="The history of imports.")

_COLUMNS = (
    "id",
    "kind",
    "at",
    Prose("by"),
    "added",
    "changed",
    "deactivated",
    "unchanged",
    "raised",
    "lowered",
    "rolled_back_at",
)


@app.command("list")
@lists_records(_COLUMNS)
async def show_all(tx: Transaction, limit: Limit = 100) -> list[ImportRecord]:
    """List imports, newest first."""
    return await list_imports(tx, limit)


@app.command("roll-back")
def roll_back(
    import_id: Annotated[int, IdOf("ID", "The import's id, from `imports list`.")],
    force: Annotated[
        bool, typer.Option("--force", help="Also restore records that have changed since the import.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Restore the records that an import changed; without --force, only if none has changed since."""
    rolled_back = run_change(lambda tx, now: roll_back_import(tx, import_id, now, force=force))
    show(rolled_back, _in_words(rolled_back), as_json=as_json)


def _in_words(rolled_back: RolledBackImport) -> str:
    lines = [f"import {rolled_back.id} is rolled back: {rolled_back.restored} records are what they were"]
    lines += [] if rolled_back.prices is None else [str(rolled_back.prices)]
    lines += [f"overwritten, although changed since: {record}" for record in rolled_back.overwritten]
    lines += [f"kept, because it is in use or has another e-mail address: {record}" for record in rolled_back.kept]
    return "\n".join(lines)
