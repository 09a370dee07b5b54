"""Reads lines of a SKU and a quantity, as people paste them from an e-mail, a spreadsheet or a CSV file."""

import io
import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from tradecounter.bulk.cells import UnreadableCellError, cell_text
from tradecounter.bulk.encodings import UnreadableFileError, scan
from tradecounter.bulk.tables import UnreadableLineError, csv_lines
from tradecounter.kit.errors import FieldError, invalid, invalid_fields
from tradecounter.kit.numbers import UnreadableNumberError, read_count
from tradecounter.orders.wire import LONGEST_SKU, MOST_ITEMS, MOST_UNITS

_SEPARATORS = ("\t", ";", ",")
_TIMES = re.compile(r"([0-9]{1,6})\s*[x\u00d7]\s+(\S.*)", re.IGNORECASE)
_TIMES_AFTER = re.compile(r"(\S.*?)\s+[x\u00d7]\s*([0-9]{1,6})", re.IGNORECASE)
_STATED = re.compile(r'"?sep=(?P<separator>[^"])"?\s*', re.IGNORECASE)  # Excel writes it before the heading
_SKU_HEADINGS = {"sku", "product", "code", "product code", "item", "item code", "part", "part number"}
_QUANTITY_HEADINGS = {"quantity", "qty", "units", "number", "count", "counted"}
_NO_TEXT_FILE = "must be a text file with the columns sku and quantity, such as CSV"
_MOST_PROBLEMS = 10  # named in an error
_TIMES_READ = 10  # as many lines of a list as it may have items: the others may be wrong, or name the same products
_PAIR = 2


class LineRules(Struct, frozen=True, kw_only=True):
    """The most lines of a list, and the most units of a line; `without_units` is the quantity of a line without one.

    In a list of more lines, one line has the error `too_many`. If `without_units` is None, a line without a quantity is
    left out.
    """

    least_units: int
    most_units: int
    without_units: int | None
    most_lines: int
    too_many: str


ORDER_LINES = LineRules(
    least_units=1,
    most_units=MOST_UNITS,
    without_units=1,
    most_lines=MOST_ITEMS,
    too_many=f"is one too many: an order has at most {MOST_ITEMS} lines",
)


class _Columns(Struct, frozen=True):
    """The cells of a line that have the SKU and the quantity, and the most cells that a line has."""

    sku: int = 0
    quantity: int = 1
    most: int = 2
    problems: Sequence[str] = ()


class _Line(Struct, frozen=True):
    """A line that is not empty, as written and as cells; without a separator, its words are the cells."""

    number: int
    written: str
    cells: Sequence[str]
    separator: str | None


class QuickLine(Struct, frozen=True):
    """Units of a product, and the number of their line."""

    number: int
    sku: str
    units: int


class BadLine(Struct, frozen=True):
    """A line that cannot be read, and the reason."""

    number: int
    problem: str

    def __str__(self) -> str:
        return f"line {self.number} {self.problem}"


def numbered_quick_lines(text: str, rules: LineRules = ORDER_LINES) -> tuple[list[QuickLine], list[BadLine]]:
    """Return the items of lines such as `PHONE 2`, `PHONE,2`, `2 x PHONE` or `PHONE x2`, and the unreadable lines.

    Tabs, semicolons or commas may separate cells. If a heading names the columns, others are ignored. Only the first
    lines of a long text are read.
    """
    lines: list[QuickLine] = []
    bad: list[BadLine] = []
    columns = _Columns()
    is_first = True
    rows, most = text.splitlines(), rules.most_lines * _TIMES_READ
    if len(rows) > most:
        bad.append(BadLine(most + 1, f"and those after it are left out: a list is read up to line {most:,}"))
    for line in _written_lines(rows[:most]):
        if isinstance(line, BadLine):
            bad.append(line)
            continue
        heading = _heading(line.cells) if is_first else None
        is_first = False
        if heading is not None:
            columns = heading
            bad += [BadLine(line.number, problem) for problem in heading.problems]
            continue
        read = _read(line, columns, rules)
        if isinstance(read, BadLine):
            bad.append(read)
        elif read is not None:
            lines.append(read)
    if len(lines) > rules.most_lines:
        bad.append(BadLine(lines[rules.most_lines].number, rules.too_many))
    return lines, bad


def lines_of_heading(text: str) -> int:
    """Return how many lines precede the items of a list: those up to the heading, if it has one."""
    for line in _written_lines(text.splitlines()):
        return line.number if not isinstance(line, BadLine) and _heading(line.cells) is not None else 0
    return 0


def require_good_lines(bad: Iterable[BadLine]) -> None:
    """Raise DomainError (invalid) if there are bad lines, naming them in their order."""
    if problems := sorted(bad, key=lambda line: line.number):
        more = f"; and {len(problems) - _MOST_PROBLEMS} more" if len(problems) > _MOST_PROBLEMS else ""
        raise invalid_fields([FieldError("lines", "; ".join(map(str, problems[:_MOST_PROBLEMS])) + more)])


def _written_lines(rows: Sequence[str]) -> Iterator[_Line | BadLine]:
    """Yield the lines that are not empty; under a heading with a separator, they are the lines of a CSV file."""
    stated = None
    is_first = True
    for at, row in enumerate(rows):
        if not row.strip():
            continue
        if is_first and (match := _STATED.fullmatch(row)) is not None:
            stated = match["separator"]
            continue
        separator = stated or next((found for found in _SEPARATORS if found in row), None)
        if is_first and separator is not None and _starts_table(row, separator):
            yield from _table_lines("\n".join(rows[at:]), separator, at)
            return
        is_first = False
        if separator is not None:
            yield from _table_lines(row, separator, at)
        else:
            yield _Line(at + 1, row, _words(row), None)


def _starts_table(row: str, separator: str) -> bool:
    return _heading([cell.strip() for cell in row.replace('"', "").split(separator)]) is not None


def _table_lines(text: str, separator: str, skipped: int) -> Iterator[_Line | BadLine]:
    try:
        for number, cells in csv_lines(io.StringIO(text), separator, skipped):
            try:
                texts = [cell_text(cell, "text") for cell in cells]
            except UnreadableCellError as error:
                yield BadLine(number, str(error))
                continue
            if any(texts):
                yield _Line(number, separator.join(texts), texts, separator)
    except UnreadableLineError as error:
        yield BadLine(error.line, f"cannot be read: {error}")


def _words(row: str) -> list[str]:
    """Return the cells of a line without a separator, which may be written in several ways."""
    if (times := _TIMES.fullmatch(row.strip())) is not None:
        return [times[2].strip(), times[1]]
    if (times := _TIMES_AFTER.fullmatch(row.strip())) is not None:
        return [times[1], times[2]]
    words = row.split()
    return words if len(words) < _PAIR else [" ".join(words[:-1]), words[-1]]


def _heading(cells: Sequence[str]) -> _Columns | None:
    names = [cell.lower() for cell in cells]
    skus = [n for n, name in enumerate(names) if name in _SKU_HEADINGS]
    quantities = [n for n, name in enumerate(names) if name in _QUANTITY_HEADINGS]
    if not skus or not quantities:
        return None
    named = [n for n in skus if names[n] == "sku"] or skus
    problems = [
        f"has two columns for {what}: {cells[found[0]]!r} and {cells[found[1]]!r}"
        for what, found in (("the SKU", named), ("the quantity", quantities))
        if len(found) > 1
    ]
    return _Columns(named[0], quantities[0], len(cells), problems)


def _read(line: _Line, columns: _Columns, rules: LineRules) -> QuickLine | BadLine | None:
    """Return the item of a line, its error, or None if it has neither."""
    shown, cells = repr(line.written.strip()[:60]), line.cells
    sku = cells[columns.sku] if columns.sku < len(cells) else ""
    written = cells[columns.quantity] if columns.quantity < len(cells) else ""
    if not sku or len(sku) > LONGEST_SKU:
        return BadLine(line.number, f"{shown} has no SKU")
    if any(cells[columns.most :]):  # the rest of a number with a comma, perhaps
        return BadLine(line.number, f"{shown} has {len(cells)} cells, and only {columns.most} have a heading")
    if not written:
        return None if rules.without_units is None else QuickLine(line.number, sku, rules.without_units)
    try:
        units = read_count(written, commas=line.separator not in {";", "\t"})
    except UnreadableNumberError as error:
        return BadLine(line.number, f"{shown} must end with a whole number of units: {error}")
    if not rules.least_units <= units <= rules.most_units:
        return BadLine(line.number, f"{shown} must have {rules.least_units} to {rules.most_units:,} units")
    return QuickLine(line.number, sku, units)


def text_of_file(content: bytes) -> str:
    """Return a file's text: UTF-8, UTF-16 with a byte order mark, or Windows-1252. Raises DomainError (invalid)."""
    try:
        encoding = scan(io.BytesIO(content)).encoding
    except UnreadableFileError as error:
        raise invalid("file", f"{_NO_TEXT_FILE}: {error}") from error
    text = content.decode(encoding, errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    if "\x00" in text:
        raise invalid("file", _NO_TEXT_FILE)
    return text
