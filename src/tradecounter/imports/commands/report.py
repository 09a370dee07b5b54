"""Shows the report of an import, and writes its changes to a file or to standard output."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TextIO

import typer

from tradecounter.bulk.differences import Change, OnChange
from tradecounter.bulk.files import FileFacts
from tradecounter.bulk.import_options import ImportReport
from tradecounter.bulk.price_figures import PriceFigures, what_wants_force
from tradecounter.edge.command_line.output import one_line, show_json
from tradecounter.edge.command_line.session import fail
from tradecounter.imports.wire import present_report
from tradecounter.kit.csv_text import cell_of, line
from tradecounter.kit.errors import OperatorError
from tradecounter.kit.json_text import to_json
from tradecounter.kit.private_folder import private_file

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
