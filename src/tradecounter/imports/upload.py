"""A file to import that a member of staff has uploaded, and the outcome of its check or its import."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from typing import BinaryIO, Literal

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from tradecounter.bulk.bad_rows import bad_rows_file, messages_by_line
from tradecounter.bulk.files import Form, opened_file
from tradecounter.bulk.import_options import ImportReport
from tradecounter.bulk.tables import ColumnOptions, UnreadableLineError
from tradecounter.bulk.uploaded_files import UploadedFile
from tradecounter.imports.kinds import IMPORT_KINDS

State = Literal["new", "checking", "checked", "applying", "applied"]

_MOST_MESSAGES = 500  # of the errors, and of the warnings, in a report
MOST_BAD_ROWS = 5000  # in the file of bad rows


class RenamedColumn(Struct, frozen=True):
    """A column with another name than its field; `field` is empty until somebody maps it."""

    theirs: str
    field: str = ""


class ImportChoices(Struct, frozen=True, kw_only=True):
    """How a file is imported; `kind` is empty until it is known what the file contains."""

    kind: str = ""
    columns: list[RenamedColumn] = []
    replace: bool = False
    confirmed: bool = False
    partial: bool = False
    on_hand: bool = False
    ignore_unknown: bool = False


class ImportOutcome(Struct, frozen=True, kw_only=True):
    """The outcome of a check or an import.

    Attributes:
        report: None if the file failed as a whole; it has the first errors and warnings.
        problem: why the file failed as a whole.
        errors, warnings: how many there are.
        good_rows: how many rows remain if those with errors are left out; 0 if leaving them out is no choice.
        bad_lines: what is wrong with the first bad rows, by line, if the file is a table that also has good rows.
        bad_rows: these rows as a CSV file.
        bad_count: how many rows have errors.
        import_id: the id of the import, once the file is applied.
    """

    report: ImportReport | None = None
    problem: str = ""
    errors: int = 0
    warnings: int = 0
    good_rows: int = 0
    bad_lines: Mapping[int, str] = {}
    bad_rows: str = ""
    bad_count: int = 0
    import_id: int | None = None


class ImportUpload(UploadedFile, kw_only=True):
    """An uploaded file to import.

    Attributes:
        fitting: the kinds that its columns fit.
        lines: the approximate number of lines in the file; None if it is unknown.
        wanted: how it is imported.
        rows: the number of rows that the task has read so far.
        outcome: that of the last check or import; empty before, and while one runs.
        force: whether its owner has agreed to prices that may be slips, and to new price lists.
        rule: the rule that made the rows, in words; empty for a file that somebody has uploaded.
        origin: the path of the form with that rule.
        seen: the digest of the changes that the check of such rows has shown.
    """

    file: BinaryIO
    form: Form
    size: int
    fitting: list[str]
    lines: int | None
    wanted: ImportChoices
    state: State = "new"
    rows: int = 0
    outcome: ImportOutcome = field(default_factory=ImportOutcome)
    force: bool = False
    rule: str = ""
    origin: str = ""
    seen: str | None = None
    task: asyncio.Task[None] | None = None

    @property
    def path(self) -> str:
        """The path of its page."""
        return f"/import/check/{self.id}"

    @property
    def is_running(self) -> bool:
        """Whether it is being checked or applied."""
        return self.state in {"checking", "applying"}

    @property
    def changes(self) -> int:
        """How many records it would add, change or deactivate."""
        report = self.outcome.report
        return 0 if report is None else report.added + report.changed + report.deactivated

    @property
    def can_be_applied(self) -> bool:
        """Whether its check found changes, and no errors except in rows that are left out."""
        report = self.outcome.report
        return self.state == "checked" and report is not None and not report.is_rejected and self.changes > 0

    @property
    def wants_force(self) -> bool:
        """Whether it changes prices that may be slips, or creates price lists."""
        report = self.outcome.report
        return report is not None and report.prices is not None and report.prices.want_force

    @property
    def without_bad_rows(self) -> dict[str, str]:
        """The fields of the form that checks it again, without the rows that have errors."""
        ticked = {name: "true" for name, value in asdict(self.wanted).items() if value is True}
        columns = {
            f"columns-{n}-{key}": value for n, c in enumerate(self.wanted.columns) for key, value in asdict(c).items()
        }
        return {"kind": self.wanted.kind, **ticked, **columns, "partial": "true"}

    @property
    def columns_to_map(self) -> list[RenamedColumn]:
        """The columns that are mapped to a field, and those that have none yet."""
        report = self.outcome.report
        unknown = [] if report is None or report.file is None else report.file.unknown_columns
        return [*self.wanted.columns, *map(RenamedColumn, unknown)]

    def close(self) -> None:
        """Free the file's space on disk."""
        with suppress(OSError, ValueError):
            self.file.close()


def outcome_of(upload: ImportUpload, report: ImportReport) -> ImportOutcome:
    """Return the outcome of a check or an import with a report, without the file of bad rows; shorten the report."""
    messages = messages_by_line(report.errors)
    file_is_sound = all(error.line is not None for error in report.errors)
    good_rows = max(0, upload.rows - len(messages)) if messages and file_is_sound else 0
    has_table = upload.form in {"CSV", "XLSX"}
    outcome = ImportOutcome(
        report=report,
        errors=len(report.errors),
        warnings=len(report.warnings),
        good_rows=good_rows if report.is_rejected and not upload.wanted.partial else 0,
        bad_lines=dict(islice(sorted(messages.items()), MOST_BAD_ROWS)) if good_rows and has_table else {},
        bad_count=len(messages),
        import_id=report.id,
    )
    del report.errors[_MOST_MESSAGES:], report.warnings[_MOST_MESSAGES:]
    return outcome


async def with_bad_rows(upload: ImportUpload, outcome: ImportOutcome) -> ImportOutcome:
    """Return an outcome with the file of its bad rows; leaving these out is no choice if there can be no such file."""
    if not outcome.bad_lines:
        return outcome
    bad_rows = await asyncio.to_thread(_bad_rows, upload, outcome.bad_lines)
    return replace(outcome, bad_rows=bad_rows, good_rows=outcome.good_rows if bad_rows else 0)


def _bad_rows(upload: ImportUpload, messages: Mapping[int, str]) -> str:
    """Return the rows with messages as a CSV file; empty if it cannot be made."""
    shape = IMPORT_KINDS[upload.wanted.kind].shape
    opened = opened_file(upload.file, upload.form)
    try:
        return bad_rows_file(opened, shape, column_options(upload.wanted), messages)
    except UnreadableLineError:  # nothing of such a file is imported
        return ""


def column_options(wanted: ImportChoices) -> ColumnOptions:
    """Return how the columns of a file are read."""
    renamed = {column.theirs: column.field for column in wanted.columns}
    return ColumnOptions(renamed, wanted.ignore_unknown)
