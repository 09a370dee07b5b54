"""`tradecounter import`: imports a file, or writes sample files."""

import shutil
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace as changed

from tradecounter.bulk.files import ImportFile, open_import
from tradecounter.bulk.import_options import ImportOptions, ImportReport
from tradecounter.bulk.price_figures import GuardedPricesError
from tradecounter.bulk.tables import ColumnOptions, renamed_columns
from tradecounter.db.pool import Database
from tradecounter.edge.command_line.output import AsJson, show
from tradecounter.edge.command_line.progress import progress_bar
from tradecounter.edge.command_line.session import fail, operator, with_database
from tradecounter.imports.commands.report import changes_to, show_report
from tradecounter.imports.kinds import IMPORT_KINDS, ON_HAND, fields_of_kind
from tradecounter.imports.run import import_and_commit
from tradecounter.kit.clock import SystemClock

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
