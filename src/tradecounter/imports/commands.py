"""`tradecounter import`: imports a file, or writes sample files; `tradecounter imports`: the history."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Any, TextIO

import typer
from msgspec.structs import replace as changed

from tradecounter.bulk.differences import Change, OnChange
from tradecounter.bulk.files import FileFacts, ImportFile, open_import
from tradecounter.bulk.import_options import ImportOptions, ImportReport
from tradecounter.bulk.price_figures import GuardedPricesError, PriceFigures, what_wants_force
from tradecounter.bulk.tables import ColumnOptions, renamed_columns
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import IdOf, Limit
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import AsJson, Prose, one_line, show, show_json
from tradecounter.edge.command_line.progress import progress_bar
from tradecounter.edge.command_line.session import fail, operator, run_change, with_database
from tradecounter.imports.kinds import IMPORT_KINDS, ON_HAND, fields_of_kind
from tradecounter.imports.queries import ImportRecord, list_imports
from tradecounter.imports.run import RolledBackImport, import_and_commit, roll_back_import
from tradecounter.imports.wire import present_report
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.csv_text import cell_of, line
from tradecounter.kit.errors import OperatorError
from tradecounter.kit.json_text import to_json
from tradecounter.kit.private_folder import private_file

SAMPLES = "samples"

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
        help="The file for --diff, in a format by its suffix: .jsonl, .csv or text; - for standard output.",
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
    output = None if output == "-" else output
    options = ImportOptions(
        dry_run=dry_run,
        replace=replace,
        partial=partial,
        confirmed=yes,
        force=force,
        diff=diff and as_json and output is None,
    )
    columns = ColumnOptions(_renamed(renamed or [], kind), ignore_unknown)

    async def work(database: Database) -> tuple[ImportReport, str]:
        with open_import(file) as opened, changes_to(output, wanted=diff and not options.diff) as on_change:
            with_changes = changed(options, on_change=on_change)
            return await _import(database, kind, opened, columns, with_changes, on_hand=on_hand)

    report, rejection = with_database(work)
    show_report(report, rejection, dry_run=dry_run, as_json=as_json)


async def _import(
    database: Database, kind: str, file: ImportFile, columns: ColumnOptions, options: ImportOptions, *, on_hand: bool
) -> tuple[ImportReport, str]:
    """Import a file with a progress bar; return the report, and why guarded prices prevent the import, if they do."""
    rejection = ""
    rows = file.rows(IMPORT_KINDS[kind].shape, columns)
    with progress_bar(f"importing {kind}", file.lines) as progress:
        options = changed(options, progress=progress)
        try:
            report = await import_and_commit(
                database, kind, rows, options, now=SystemClock().now(), on_hand=on_hand, actor=operator()
            )
        except GuardedPricesError as error:
            report, rejection = ImportReport(prices=error.figures), error.summary
    report.file = file.facts
    return report, rejection


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


_MOST_WARNINGS = 20  # printed without --json


def show_report(report: ImportReport, rejection: str, *, dry_run: bool, as_json: bool) -> None:
    """Show a report. The command fails if the report has errors.

    It also fails with `rejection`, which says why guarded prices prevent the import; empty if they do not.
    """
    if as_json:
        show_json(present_report(report))
    else:
        _print_report(report, dry_run=dry_run, rejected=bool(rejection))
    if rejection:
        fail(rejection)
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


Write = Callable[[Change], None]


@contextmanager
def changes_to(path: str | None, *, wanted: bool) -> Iterator[OnChange | None]:
    """Yield a function that writes changes to a file or to standard output. If not `wanted`, yield None.

    Standard output gets them at the end of the block: a reader that waits, such as `less`, holds up no transaction.
    """
    if not wanted:
        yield None
    elif path is None:
        with TemporaryFile("w+", encoding="utf-8") as file:
            yield _as_text(file)
            file.seek(0)
            shutil.copyfileobj(file, sys.stdout)
    else:
        with _created(path) as file:
            writers = {".csv": _as_csv, ".jsonl": _as_json_lines, ".ndjson": _as_json_lines}
            yield writers.get(Path(path).suffix.lower(), _as_text)(file)


def _created(path: str) -> TextIO:
    try:
        return open(path, "w", encoding="utf-8", newline="", opener=private_file)
    except OSError as error:
        raise OperatorError(f"{path}: {error.strerror}") from error


def _as_json_lines(file: TextIO) -> Write:
    return lambda change: print(to_json(change).decode(), file=file)


def _as_csv(file: TextIO) -> Write:
    file.write(line(("line", "key", "change", "field", "before", "after")))

    def write(change: Change) -> None:
        before, after = change.before or {}, change.after or {}
        for name in after or before:
            cells = (change.line, change.key, change.change, name, _cell(before.get(name)), _cell(after.get(name)))
            file.write(line(map(cell_of, cells)))

    return write


def _as_text(file: TextIO) -> Write:
    def write(change: Change) -> None:
        where = "not in the file" if change.line is None else f"line {change.line}"
        print(one_line(f"{where}: {change.key} {change.change}{_members(change)}"), file=file)

    return write


def _members(change: Change) -> str:
    if change.before is None or change.after is None:
        return ""
    pairs = ((name, change.before[name], value) for name, value in change.after.items())
    percent = f" ({change.percent:+} %)" if isinstance(change.percent, Decimal) else ""
    return (
        ": "
        + ", ".join(f"{name} {_json_text(before)} -> {_json_text(after)}" for name, before, after in pairs)
        + percent
    )


def _json_text(value: Any) -> str:
    return to_json(value).decode()


def _cell(value: Any) -> Any:
    return _json_text(value) if isinstance(value, bool | list | dict) else value


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
