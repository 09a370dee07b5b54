"""Reads rows of tables (CSV and XLSX): the columns of the header, then lines of cells."""

import csv
import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TextIO

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from tradecounter.bulk.cells import Cell, ReadCell, UnreadableCellError, cell_reader
from tradecounter.bulk.rows import BadRow, Row, Shape, bad_row
from tradecounter.kit.errors import FieldError
from tradecounter.kit.text import did_you_mean, fold

WHAT_IS_WRONG = "what_is_wrong"  # the column that `bad_rows` adds; no import reads it
_GAPS = re.compile(r"[\s_-]+")


class ColumnOptions(Struct, frozen=True):
    """How columns are mapped to fields.

    Attributes:
        renamed: the field of each column whose name differs from the field's name.
        ignore_unknown: whether columns without a field are ignored instead of being errors.
    """

    renamed: Mapping[str, str] = field(default_factory=dict)
    ignore_unknown: bool = False


class Column(Struct, frozen=True):
    """A mapped column: its place in the header, its field's name, and the function that reads its cells."""

    place: int
    name: str
    read: ReadCell


class Header(Struct):
    """A header's columns.

    Attributes:
        columns: the columns that are mapped to fields.
        unnamed: the places of columns without a name.
        unknown: the names of columns without a field.
        errors: why the table cannot be read.
    """

    columns: list[Column] = field(default_factory=list)
    unnamed: list[int] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def normal_name(name: str) -> str:
    """Return a column's name in a form for comparison: `Single Unit-Cost` becomes `single_unit_cost`."""
    return _GAPS.sub("_", fold(name.strip()))


def renamed_columns(pairs: Iterable[str], fields: Collection[str]) -> dict[str, str]:
    """Return the field of each column from texts such as `Unit price=single_unit_cost`.

    Raises ValueError, also if a column or a field is there twice.
    """
    renamed: dict[str, str] = {}
    for pair in pairs:
        theirs, sign, ours = (part.strip() for part in pair.rpartition("="))
        if not sign or not theirs:
            raise ValueError(f"{pair!r}: must be THEIRS=OURS: the file's column and the field")
        if ours not in fields:
            raise ValueError(f"{pair!r}: {ours!r} is not one of {', '.join(fields)}")
        if ours in renamed.values():
            raise ValueError(f"{pair!r}: {ours!r} has another column already")
        if normal_name(theirs) in map(normal_name, renamed):
            raise ValueError(f"{pair!r}: the file's column has another field already")
        renamed[theirs] = ours
    return renamed


def known_columns(header: Sequence[str], shape: type[msgspec.Struct], options: ColumnOptions) -> int:
    """Return the number of columns with a field."""
    known = {f.encode_name for f in msgspec.structs.fields(shape)} | set(map(normal_name, options.renamed))
    return sum(1 for name in header if normal_name(name) in known)


def read_header(
    names: Sequence[str], shape: type[msgspec.Struct], options: ColumnOptions, *, commas: bool = True
) -> Header:
    """Return the columns mapped to fields, with all errors of the header; without `commas`, numbers have none."""
    if not any(names):
        return Header(errors=["the file is empty: the first line must have column names"])
    fields = {f.encode_name: f for f in msgspec.structs.fields(shape)}
    renamed = {normal_name(theirs): ours for theirs, ours in options.renamed.items()}
    header = Header()
    taken = dict[str, str]()
    seen = set[str]()
    for place, name in enumerate(names):
        normal = normal_name(name)
        ours = renamed.get(normal, normal)
        if normal == WHAT_IS_WRONG:
            continue
        if not normal:
            header.unnamed.append(place)
        elif normal in seen:
            header.errors.append(f"column {name!r} appears twice")
        elif ours not in fields or (normal not in renamed and ours in renamed.values()):
            header.unknown.append(name.strip())
        elif ours in taken:
            header.errors.append(f"columns {taken[ours]!r} and {name!r} are both {ours}")
        else:
            taken[ours] = name
            header.columns.append(Column(place, ours, cell_reader(fields[ours].type, commas=commas)))
        seen.add(normal)
    present = set(map(normal_name, names))
    header.errors += [f"there is no column {n!r} to map" for n in options.renamed if normal_name(n) not in present]
    missing = [name for name, f in fields.items() if name not in taken]
    if not options.ignore_unknown:
        header.errors += _unknown(header.unknown, fields, missing)
    header.errors += [f"there is no column for {name}" for name in missing if fields[name].required]
    if header.errors:
        header.errors.append(f"the columns may be {', '.join(fields)}")
    return header


def _unknown(names: Sequence[str], fields: Container[str], candidates: Sequence[str]) -> Iterator[str]:
    for name in names:
        normal = normal_name(name)
        near = get_close_matches(normal, candidates, n=1)
        if normal in fields:
            yield f"column {name!r} has no field: another column is mapped to {normal}"
        else:
            yield f"column {name!r} is unknown{did_you_mean(near)}"


Line = tuple[int, Sequence[Cell]]


class UnreadableLineError(Exception):
    """A table cannot be read from `line` on; the message has the reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


def table_rows(
    lines: Iterable[Line], shape: type[Shape], options: ColumnOptions, unknown: list[str], *, commas: bool
) -> Iterator[Row[Shape] | BadRow[Shape]]:
    """Yield a table's rows; the first line is the header, and empty lines are skipped.

    Adds the names of columns without a field to `unknown`. A line may have fewer cells than the header: the rest is
    empty, as in files whose program leaves out empty cells at the end. Without `commas`, numbers have none.
    """
    rest = ((number, cells) for number, cells in lines if any(cells))
    try:
        number, heading = next(rest, (1, ()))
        names = list(map(str, heading))
        header = read_header(names, shape, options, commas=commas)
        unknown += header.unknown
        if header.errors:
            yield BadRow(number, tuple(FieldError("", error) for error in header.errors), ends_file=True)
            return
        width = len(names)
        for number, cells in rest:
            if len(cells) != width:
                fitted = _fitted(cells, width)
                if fitted is None:
                    problem = f"has {len(cells)} cells where the header has {width}"
                    yield BadRow(number, (FieldError("", problem),))
                    continue
                cells = fitted  # noqa: PLW2901 the same line, with the header's width
            yield _row(number, cells, header, shape, options)
    except UnreadableLineError as error:
        yield BadRow(error.line, (FieldError("", str(error)),), ends_file=True)


def _fitted(cells: Sequence[Cell], width: int) -> Sequence[Cell] | None:
    """Return as many cells as the header has, or None if that would drop a value."""
    return None if any(cells[width:]) else [*cells[:width], *[""] * (width - len(cells))]


def _row(
    number: int, cells: Sequence[Cell], header: Header, shape: type[Shape], options: ColumnOptions
) -> Row[Shape] | BadRow[Shape]:
    if header.unnamed and not options.ignore_unknown:
        stray = [place + 1 for place in header.unnamed if str(cells[place]).strip()]
        if stray:
            problems = [f"cell {place} has a value, but its column has no name" for place in stray]
            return BadRow(number, tuple(FieldError("", problem) for problem in problems))
    try:
        read = {column.name: column.read(cells[column.place]) for column in header.columns}
        return Row(number, msgspec.convert(_without_absent(read), shape))
    except (msgspec.ValidationError, UnreadableCellError):
        return _bad_row(number, cells, header, shape)


def _without_absent(read: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in read.items() if value is not msgspec.UNSET}


def _bad_row(number: int, cells: Sequence[Cell], header: Header, shape: type[Shape]) -> BadRow[Shape]:
    read: dict[str, Any] = {}
    unreadable: dict[str, str] = {}
    for column in header.columns:
        try:
            read[column.name] = column.read(cells[column.place])
        except UnreadableCellError as error:
            unreadable[column.name] = str(error)
    bad = bad_row(number, _without_absent(read), shape, unreadable=unreadable)
    return BadRow(number, tuple(map(_reworded_for_cells, bad.errors)), bad.values)


def _reworded_for_cells(error: FieldError) -> FieldError:
    """Reword an error for cells, which are all strings and may have dates written day first."""
    message = error.message.removesuffix(", not text").replace("(YYYY-MM-DD)", "(YYYY-MM-DD or DD/MM/YYYY)")
    return replace(error, message=message)


FOUND_SEPARATORS = (",", ";", "\t")  # without a `sep=` line
# Excel reads this line before the header.
_STATED = re.compile(r'"?sep=(?P<separator>[^\r\n"])"?\s*', re.IGNORECASE)


def separator_of(file: TextIO, shape: type[msgspec.Struct], options: ColumnOptions) -> tuple[str, int]:
    """Return the file's separator and the number of lines before its header.

    Without a `sep=` line, returns the separator that yields the most known columns, then the most columns.
    """
    line = file.readline()
    skipped = 0
    while line and not line.strip():
        line = file.readline()
        skipped += 1
    stated = _STATED.fullmatch(line)
    if stated is not None:
        return stated["separator"], skipped + 1
    file.seek(0)

    def columns(separator: str) -> tuple[int, int]:
        try:
            names = next(csv.reader([line], delimiter=separator), [])
        except csv.Error:  # an endless cell; reading the line reports it
            return 0, 0
        return known_columns(names, shape, options), len(names)

    return max(FOUND_SEPARATORS, key=columns), 0


def csv_lines(file: TextIO, separator: str, skipped: int) -> Iterator[Line]:
    """Yield each line's number and cells after the first `skipped` lines. Raises UnreadableLineError."""
    reader = csv.reader(file, delimiter=separator, strict=True)
    start = skipped + 1
    try:
        for cells in reader:
            yield start, cells
            start = skipped + reader.line_num + 1
    except csv.Error as error:
        raise UnreadableLineError(start, f"not CSV: {error}") from error
