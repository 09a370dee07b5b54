"""`tradecounter import`: files of products, prices, stock and the rest."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tradecounter.cli.output import AsJson, show_json
from tradecounter.cli.session import with_database
from tradecounter.db.import_files import read_rows
from tradecounter.db.importing import ImportReport
from tradecounter.db.pool import Database
from tradecounter.imports.kinds import IMPORT_KINDS
from tradecounter.imports.run import import_rows


def kind(text: str) -> str:
    """Return a kind of import. Raises BadParameter for any other word."""
    if text not in IMPORT_KINDS:
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(IMPORT_KINDS)}")
    return text


def import_file(
    kind: Annotated[str, typer.Argument(parser=kind, metavar="KIND", help=f"One of {', '.join(IMPORT_KINDS)}.")],
    file: Annotated[str, typer.Argument(help="JSON Lines, a JSON array or CSV, by its name; - is standard input.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Deactivate what the file lacks.")] = False,
    as_json: AsJson = False,
) -> None:
    """Import a file, all or nothing; bad rows are reported with their line numbers."""

    async def work(database: Database) -> ImportReport:
        rows = read_rows(file, IMPORT_KINDS[kind].shape)
        with progress_bar(f"importing {kind}", _line_count(file)) as progress:
            return await import_rows(database, kind, rows, dry_run=dry_run, replace=replace, progress=progress)

    report = with_database(work)
    if as_json:
        show_json(report)
    else:
        _tell(report, dry_run=dry_run)
    if report.refused:
        raise typer.Exit(1)


@contextmanager
def progress_bar(title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a bar on standard error while the block runs, if that is a terminal; gives what to tell the count to."""
    columns: tuple[Any, ...] = (
        SpinnerColumn(),
        TextColumn(title),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total)
        yield lambda count: bar.update(task, completed=count)


def _line_count(file: str) -> int | None:
    """Return about how many rows a file has; None when that cannot be told without using it up."""
    if not Path(file).is_file():
        return None
    try:
        with Path(file).open("rb") as lines:
            return sum(block.count(b"\n") for block in iter(lambda: lines.read(1 << 20), b""))
    except OSError:
        return None


def _tell(report: ImportReport, *, dry_run: bool) -> None:
    for bad in report.errors:
        typer.echo(f"line {bad.line}: {bad.message}", err=True)
    if report.refused:
        count = len(report.errors)
        typer.echo(f"error: {count} bad row{'' if count == 1 else 's'}; nothing was imported", err=True)
        return
    verb = "would be " if dry_run else ""
    typer.echo(
        f"{report.added} {verb}added, {report.changed} {verb}changed, {report.unchanged} unchanged, "
        f"{report.deactivated} {verb}deactivated"
    )
