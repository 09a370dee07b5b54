"""Opens import files (JSON Lines, a JSON array, CSV or XLSX, by the file's name) and yields their rows."""

import io
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec
from msgspec import Struct, field

from tradecounter.bulk.encodings import UTF_8, UnreadableFileError, scan
from tradecounter.bulk.json_rows import json_array_texts, json_line_texts, json_rows
from tradecounter.bulk.rows import BadRow, Row, Shape
from tradecounter.bulk.tables import (
    ColumnOptions,
    Line,
    UnreadableLineError,
    csv_lines,
    read_header,
    separator_of,
    table_rows,
)
from tradecounter.bulk.workbooks import Workbook

Form = Literal["JSON Lines", "JSON", "CSV", "XLSX"]

_FORMS: dict[str, Form] = {
    ".jsonl": "JSON Lines",
    ".ndjson": "JSON Lines",
    ".json": "JSON",
    ".csv": "CSV",
    ".tsv": "CSV",
    ".txt": "CSV",
    ".xlsx": "XLSX",
}
_ZIP = b"PK\x03\x04"
_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}".encode()


class FileFacts(Struct):
    """Describes how a file was read.

    Attributes:
        form: the format.
        encoding: `utf-8`, `utf-16` or `cp1252`; None for a workbook.
        separator: the separator of CSV cells.
        sheet: the name of the workbook's sheet that was read.
        unknown_columns: the names of columns without a field.
    """

    form: Form
    encoding: str | None = None
    separator: str | None = None
    sheet: str | None = None
    unknown_columns: list[str] = field(default_factory=list)

    @property
    def has_commas(self) -> bool:
        """Whether numbers may have commas. Where others than commas separate cells, they may be decimal commas."""
        return self.separator in {None, ","}


class ImportFile(Struct, frozen=True):
    """An open import file; `lines` is the approximate number of lines, or None if it is unknown."""

    file: BinaryIO
    facts: FileFacts
    encoding: str
    lines: int | None

    def rows(self, shape: type[Shape], options: ColumnOptions | None = None) -> Iterator[Row[Shape] | BadRow[Shape]]:
        """Yield all rows. Raises UnreadableFileError."""
        if self.facts.form in {"CSV", "XLSX"}:
            return self._table_rows(shape, options or ColumnOptions())
        if options and (options.renamed or options.ignore_unknown):
            raise UnreadableFileError(f"{self.facts.form}: columns can be mapped in CSV and XLSX files only")
        return json_rows(self.texts(), shape)

    def cells(self, shape: type[msgspec.Struct], options: ColumnOptions) -> Iterator[Line]:
        """Yield the lines of a CSV file or a workbook as they are, headings included.

        `shape` and `options` tell which columns are known, for detecting the separator. Raises UnreadableFileError and
        UnreadableLineError.
        """
        with self._lines(shape, options) as lines:
            yield from lines

    def texts(self) -> Iterator[tuple[int, bytes]]:
        """Yield the objects of a JSON file as they are written, with their numbers. Raises UnreadableFileError."""
        self._begin_json()
        if self.facts.form == "JSON":
            yield from json_array_texts(self.file.read())
        else:
            yield from json_line_texts(self.file)

    def fits(self, shape: type[Shape]) -> bool:
        """Return whether the file's columns, or its first object's members, are a shape's fields, none missing.

        An empty file, and one that cannot be read, fits none.
        """
        if self.facts.form in {"CSV", "XLSX"}:
            header = read_header(self._header(shape), shape, ColumnOptions())
            return not header.errors
        names = self._members()
        fields = msgspec.structs.fields(shape)
        required = {field.encode_name for field in fields if field.required}
        return bool(names) and required <= names <= {field.encode_name for field in fields}

    def _header(self, shape: type[Shape]) -> Sequence[str]:
        try:
            with self._lines(shape, ColumnOptions()) as lines:
                return next((list(map(str, cells)) for _, cells in lines if any(cells)), ())
        except (UnreadableFileError, UnreadableLineError):
            return ()

    def _members(self) -> set[str]:
        try:
            _, first = next(iter(self.texts()), (1, b"{}"))
            return set(msgspec.json.decode(first, type=dict[str, msgspec.Raw]))
        except (UnreadableFileError, msgspec.DecodeError, RecursionError):
            return set()

    def _begin_json(self) -> None:
        """Go to the beginning of the file, after its mark of byte order."""
        self.file.seek(0)
        if self.file.read(len(_MARK)) != _MARK:
            self.file.seek(0)

    @contextmanager
    def _lines(self, shape: type[msgspec.Struct], options: ColumnOptions) -> Iterator[Iterator[Line]]:
        """Yield the lines of a table from the beginning."""
        self.file.seek(0)
        if self.facts.form == "XLSX":
            book = Workbook(self.file)
            self.facts.sheet = book.sheet
            yield book.lines()
            return
        text = io.TextIOWrapper(self.file, encoding=self.encoding, newline="")
        try:
            self.facts.separator, skipped = separator_of(text, shape, options)
            yield csv_lines(text, self.facts.separator, skipped)
        except UnicodeDecodeError as error:
            raise UnreadableFileError(f"not {self.facts.encoding} text") from error
        finally:
            with suppress(ValueError):  # the file was closed before all lines were read
                text.detach()

    def _table_rows(self, shape: type[Shape], options: ColumnOptions) -> Iterator[Row[Shape] | BadRow[Shape]]:
        with self._lines(shape, options) as lines:
            yield from table_rows(lines, shape, options, self.facts.unknown_columns, commas=self.facts.has_commas)


@contextmanager
def open_import(path: str) -> Iterator[ImportFile]:
    """Open a file; `-` is standard input, whose format is detected from its content. Raises UnreadableFileError."""
    try:
        if path == "-":
            with _copied(sys.stdin.buffer) as file:
                yield opened_file(file, _form_of_text(file))
        else:
            with _file(path) as file:
                yield opened_file(file, _form_of_name(path))
    except UnreadableFileError as error:
        raise UnreadableFileError(f"{'standard input' if path == '-' else path}: {error}") from error


@contextmanager
def _file(path: str) -> Iterator[BinaryIO]:
    with ExitStack() as stack:
        try:
            file: BinaryIO = stack.enter_context(Path(path).open("rb"))
            if not file.seekable():  # a pipe
                file = stack.enter_context(_copied(file))
        except OSError as error:
            raise UnreadableFileError(str(error.strerror)) from error
        yield file


@contextmanager
def _copied(stream: BinaryIO) -> Iterator[BinaryIO]:
    """Copy a stream to disk, because an import file is read several times."""
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(stream, copy)
        copy.seek(0)
        yield copy


def opened_file(file: BinaryIO, form: Form) -> ImportFile:
    """Return an open file of a format as an import file. Raises UnreadableFileError."""
    if form == "XLSX":
        return ImportFile(file, FileFacts(form), "", None)
    scanned = scan(file)
    if form != "CSV" and scanned.encoding != UTF_8:
        raise UnreadableFileError("not UTF-8 text")
    facts = FileFacts(form, scanned.encoding.removesuffix("-sig"))
    return ImportFile(file, facts, scanned.encoding, scanned.lines)


def form_of(name: str, file: BinaryIO) -> Form:
    """Return the format of a file by its name's suffix, or by its content if the name has none that is known.

    Raises UnreadableFileError for a format that cannot be read.
    """
    suffix = Path(name).suffix.lower()
    return _form_of_name(name) if suffix in {*_FORMS, ".xls"} else _form_of_text(file)


def _form_of_name(name: str) -> Form:
    suffix = Path(name).suffix.lower()
    if suffix not in _FORMS:
        hint = ": save it as .xlsx" if suffix == ".xls" else ""
        raise UnreadableFileError(f"{suffix or 'no suffix'} is not one of {', '.join(_FORMS)}{hint}")
    return _FORMS[suffix]


def _form_of_text(file: BinaryIO) -> Form:
    start = file.read(1 << 16).removeprefix(_MARK)
    file.seek(0)
    if start.startswith(_ZIP):
        return "XLSX"
    forms: dict[bytes, Form] = {b"{": "JSON Lines", b"[": "JSON"}
    return forms.get(start.lstrip()[:1], "CSV")
