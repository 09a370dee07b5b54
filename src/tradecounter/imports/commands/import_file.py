"""`tradecounter import`: files of products, prices, stock and other data."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tradecounter.bulk.columns import ColumnOptions, renamed_columns
from tradecounter.bulk.files import FileFacts, open_import
from tradecounter.bulk.importing import ImportOptions, ImportReport
from tradecounter.bulk.price_figures import GuardedPricesError, PriceFigures, what_wants_force
from tradecounter.db.pool import Database
from tradecounter.edge.command_line.output import AsJson, show, show_json
from tradecounter.edge.command_line.session import fail, operator, with_database
from tradecounter.edge.command_line.tables import one_line
from tradecounter.imports.commands.differences import changes_to
from tradecounter.imports.kinds import IMPORT_KINDS, ON_HAND, fields_of_kind
from tradecounter.imports.operations.wire import present_report
from tradecounter.imports.run import import_and_commit

SAMPLES = "samples"
_MOST_WARNINGS = 20  # printed without --json

Map = Annotated[
    list[str] | None,
    typer.Option("--map", metavar="THEIRS=OURS", help="Read a column of the file as a field; may be repeated."),
]
Output = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="The file for --diff, in a format by its suffix: .jsonl, .csv or text.",
    ),
]


def kind(text: str) -> str:
    """Parse a kind of import, or `samples`. Raises BadParameter."""
    if text not in IMPORT_KINDS and text != SAMPLES:
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(IMPORT_KINDS)}, {SAMPLES}")
    return text


def import_file(
    kind: Annotated[
        str, typer.Argument(parser=kind, metavar="KIND", help=f"{', '.join(IMPORT_KINDS)}; or {SAMPLES}, see below.")
    ],
    file: Annotated[
        str,
        typer.Argument(
            help="JSON Lines, JSON, CSV or XLSX, by its name; - reads standard input. With samples: a folder."
        ),
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the changes without making them.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show each changed record before and after the import.")] = False,
    output: Output = None,
    replace: Annotated[bool, typer.Option("--replace", help="Deactivate records that are not in the file.")] = False,
    partial: Annotated[
        bool, typer.Option("--partial", help="Leave rows with errors out, import the others, and exit with 1.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --replace: deactivate even more than a fifth.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Import also prices that may be slips, and price lists that nobody knows.")
    ] = False,
    renamed: Map = None,
    ignore_unknown: Annotated[bool, typer.Option("--ignore-unknown", help="Ignore columns without a field.")] = False,
    on_hand: Annotated[
        bool, typer.Option("--on-hand", help="With stock: the file's counts include units allocated to orders.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Import a file, all or nothing, and list all errors; `import samples FOLDER` writes a sample of each kind."""
    if kind == SAMPLES:
        _write_samples(file, as_json=as_json)
        return
    _check_usage(kind, on_hand=on_hand, diff=diff, output=output)
    in_report, rejected = diff and as_json and output is None, list[str]()
    columns = ColumnOptions(_renamed(renamed or [], kind), ignore_unknown)

    async def work(database: Database) -> ImportReport:
        with (
            open_import(file) as opened,
            changes_to(output, wanted=diff and not in_report) as on_change,
            progress_bar(f"importing {kind}", opened.lines) as progress,
        ):
            options = ImportOptions(
                dry_run=dry_run,
                replace=replace,
                partial=partial,
                confirmed=yes,
                force=force,
                progress=progress,
                on_change=on_change,
                diff=in_report,
            )
            rows = opened.rows(IMPORT_KINDS[kind].shape, columns)
            try:
                report = await import_and_commit(database, kind, rows, options, on_hand=on_hand, actor=operator())
            except GuardedPricesError as error:
                report = ImportReport(prices=error.figures)
                rejected.append(error.summary)
            report.file = opened.facts
            return report

    show_report(with_database(work), rejected, dry_run=dry_run, as_json=as_json)


def _check_usage(kind: str, *, on_hand: bool, diff: bool, output: str | None) -> None:
    if on_hand and kind not in ON_HAND:
        raise typer.BadParameter(f"--on-hand is only for imports of {', '.join(ON_HAND)}")
    if output is not None and not diff:
        raise typer.BadParameter("-o is the file for --diff: add --diff")


def _renamed(pairs: list[str], kind: str) -> dict[str, str]:
    try:
        return renamed_columns(pairs, fields_of_kind(kind))
    except ValueError as error:
        raise typer.BadParameter(f"--map {error}") from error


def _write_samples(folder: str, *, as_json: bool) -> None:
    """Write a sample of each kind to a folder. Fails if one of the files exists."""
    paths = [Path(folder) / f"{kind}.csv" for kind in IMPORT_KINDS]
    for path in paths:
        if path.exists():
            fail(f"{path} exists: remove it, or choose another folder")
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for path in paths:
            with as_file(files("tradecounter.imports") / "sample_files" / path.name) as sample:
                shutil.copyfile(sample, path)
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")
    names = list(map(str, paths))
    show({"files": names}, "\n".join(names), as_json=as_json)


@contextmanager
def progress_bar(title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Yield a function that reports progress, as a progress bar if standard error is a terminal."""
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


def show_report(report: ImportReport, rejected: Sequence[str], *, dry_run: bool, as_json: bool) -> None:
    """Show a report; the command fails if it has errors, or if guarded prices prevent the import (`rejected`)."""
    if as_json:
        show_json(present_report(report))
    else:
        _print_report(report, dry_run=dry_run, rejected=bool(rejected))
    if rejected:
        fail(rejected[0])
    if report.errors:
        fail(_error(report))


def _print_report(report: ImportReport, *, dry_run: bool, rejected: bool) -> None:
    if report.file is not None:
        _print_file_facts(report.file, has_errors=bool(report.errors))
    for warning in report.warnings[:_MOST_WARNINGS]:
        typer.echo(f"warning: {_placed(warning.line, warning.message)}", err=True)
    if (more := len(report.warnings) - _MOST_WARNINGS) > 0:
        typer.echo(f"warning: {more} more, which --json lists", err=True)
    for error in report.errors:
        typer.echo(_placed(error.line, error.message), err=True)
    if report.prices is not None:
        _print_guarded(report.prices)
    if report.is_rejected or rejected:
        return
    verb = "would be " if dry_run else ""
    left_out = f", {report.skipped} {verb}left out" if report.skipped else ""
    typer.echo(
        f"{report.added} {verb}added, {report.changed} {verb}changed, {report.unchanged} unchanged, "
        f"{report.deactivated} {verb}deactivated{left_out}"
    )
    if report.prices is not None:
        typer.echo(str(report.prices))
        if dry_run and report.prices.want_force:
            typer.echo(f"note: {what_wants_force(report.prices)}: the import wants --force", err=True)


def _print_guarded(prices: PriceFigures) -> None:
    for reason in prices.reasons():
        typer.echo(f"guarded: {one_line(str(reason))}", err=True)
    if prices.more > 0:
        typer.echo(f"guarded: {prices.more} more", err=True)


def _print_file_facts(facts: FileFacts, *, has_errors: bool) -> None:
    if facts.encoding == "cp1252":
        typer.echo("note: the file is not UTF-8, so it was read as Windows-1252 (cp1252)", err=True)
    if facts.unknown_columns and not has_errors:
        typer.echo(f"note: columns without a field: {one_line(', '.join(facts.unknown_columns))}", err=True)


def _error(report: ImportReport) -> str:
    """Return why nothing, or not everything, was imported, on one line."""
    first, count = report.errors[0], len(report.errors)
    more = f" (and {count - 1} more error{'s' * (count > 2)})" if count > 1 else ""  # noqa: PLR2004 a plural
    hint = ""
    if report.file is not None and report.file.unknown_columns and first.line == 1:
        hint = "; --map THEIRS=OURS names a column's field, --ignore-unknown ignores the others"
    result = f"{report.skipped} rows were left out" if report.skipped else "nothing was imported"
    return f"{result}: {_placed(first.line, first.message)}{more}{hint}"


def _placed(line: int | None, message: str) -> str:
    return one_line(message if line is None else f"line {line}: {message}")
