"""Reads the parts of a workbook's archive, its sheets, number formats and shared texts, and cells that are not text.

A field of text takes what its cell shows. A number, a date or a time in a field of another type is an error, because
spreadsheets turn what looks like one into it: the part number `10-3` becomes the tenth of March.
"""

import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Context, Decimal
from typing import IO
from xml.parsers import expat
from zipfile import ZipFile

from msgspec import Struct

from tradecounter.bulk.cells import FieldType, UnreadableCellError
from tradecounter.bulk.number_formats import NumberFormat, built_in_format, number_format
from tradecounter.kit.numbers import EXACT

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_MOST_DIGITS = 15  # of a number in a spreadsheet; further digits are lost, or errors of rounding
_PRECISION = Context(prec=_MOST_DIGITS)
_LARGEST_EXPONENT = 308
_TOO_LARGE = Decimal(10) ** _MOST_DIGITS
_DAY = timedelta(days=1)
_LEAP_DAY = 60  # the serial number of 29 February 1900, which never was

EPOCH_1900 = datetime(1899, 12, 30)  # noqa: DTZ001 cells have no zone
EPOCH_1904 = datetime(1904, 1, 1)  # noqa: DTZ001


class BadCell(Struct, frozen=True):
    """A cell without a value that can be read, and why."""

    why: str

    def __str__(self) -> str:
        return self.why

    def text_for(self, field: FieldType) -> str:
        """Raise UnreadableCellError."""
        raise UnreadableCellError(self.why)


class TruthCell(Struct, frozen=True):
    """A cell that shows TRUE or FALSE."""

    value: bool

    def __str__(self) -> str:
        return "TRUE" if self.value else "FALSE"

    def text_for(self, field: FieldType) -> str:
        """Return the cell's text for a type of field. Raises UnreadableCellError."""
        if field not in {"text", "boolean"}:
            raise UnreadableCellError(f"the cell is {self}, not a {field}")
        return str(self)


class MomentCell(Struct, frozen=True):
    """A cell that shows a date, a time of day or a duration; `since_midnight` is the time or the duration."""

    day: datetime | None
    since_midnight: timedelta

    def __str__(self) -> str:
        if self.day is None:
            return _clock(self.since_midnight)
        return str(self.day.date()) + (f" {_clock(self.since_midnight)}" if self.since_midnight else "")

    def text_for(self, field: FieldType) -> str:
        """Return the cell's text for a type of field. Raises UnreadableCellError."""
        fits = field == "date" if self.day is not None else field == "time" and self.since_midnight < _DAY
        if fits:
            return str(self)
        what = "date" if self.day is not None else "time" if self.since_midnight < _DAY else "duration"
        if field == "text":
            raise UnreadableCellError(f"the cell is a {what} ({self}): format it as text, then type the value again")
        raise UnreadableCellError(f"the cell is a {what} ({self}), not a {field}")


class NumberCell(Struct, frozen=True):
    """A cell that shows a number, which may be a percentage or an amount of money."""

    number: Decimal
    format: NumberFormat

    def __str__(self) -> str:
        return self.format.shown(self.number) or f"{self.number:f}"

    def text_for(self, field: FieldType) -> str:
        """Return the cell's text for a type of field, never with an exponent. Raises UnreadableCellError."""
        section = self.format.section_of(self.number)
        if field == "text":
            return self._shown(scientific=section.scientific)
        if section.currency is not None:
            raise UnreadableCellError(f"{self} is in another currency than pounds ({section.currency})")
        value = self.number * 100**section.percents
        return f"{value.normalize(EXACT):f}" + "%" * section.percents

    def _shown(self, *, scientific: bool) -> str:
        if scientific or abs(self.number) >= _TOO_LARGE:
            lost = "digits of it are not shown" if scientific else f"a cell keeps {_MOST_DIGITS} digits of a number"
            raise UnreadableCellError(
                f"the cell is the number {self.number:f}, but {lost}: format it as text, then type the value again"
            )
        shown = self.format.shown(self.number)
        if shown is None:
            raise UnreadableCellError(
                f"the cell is the number {self.number:f}, but its format {self.format.code} shows something else: "
                "format it as text, then type the value again"
            )
        return shown


def _clock(since_midnight: timedelta) -> str:
    minutes, seconds = divmod(int(since_midnight.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}"


def as_number(text: str) -> Decimal:
    """Return a number as a spreadsheet has it, with 15 digits. Raises ValueError."""
    if _NUMBER.fullmatch(text) is None:
        raise ValueError(text)
    try:
        number = _PRECISION.create_decimal(text).normalize()
    except ArithmeticError as error:
        raise ValueError(text) from error
    if abs(number.adjusted()) > _LARGEST_EXPONENT:
        raise ValueError(text)
    return number


def moment_cell(serial: Decimal, epoch: datetime, *, with_date: bool) -> MomentCell | BadCell:
    """Return the date, the time of day or the duration that is so many days after the epoch."""
    try:
        since_epoch = timedelta(seconds=round(serial * 86400))
        if not with_date:
            return MomentCell(None, since_epoch) if serial >= 0 else BadCell(f"the time {serial:f} is negative")
        if epoch == EPOCH_1900 and serial < _LEAP_DAY:
            since_epoch += _DAY
        moment = epoch + since_epoch
    except OverflowError:
        return BadCell(f"the date {serial:f} is out of range")
    return _of_moment(moment)


def iso_moment_cell(text: str) -> MomentCell | BadCell:
    """Return the date of a cell that has it as ISO 8601."""
    try:
        return _of_moment(datetime.fromisoformat(text).replace(tzinfo=None))
    except ValueError:
        return BadCell(f"the cell's date {text[:40]!r} is unreadable")


def _of_moment(moment: datetime) -> MomentCell:
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return MomentCell(midnight, moment - midnight)


_BLOCK = 1 << 16
_MOST_TEXTS = 20_000_000
_LARGEST_PART = 20_000_000  # bytes; of the lists of sheets and formats
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_TRUE = {"1", "true", "on"}
_SHEET = "/worksheet"  # the ends of relations' types
_TEXTS = "/sharedStrings"
_STYLES = "/styles"

Attributes = dict[str, str]


class DamagedPartError(Exception):
    """A part of a workbook is not what it must be."""


class XmlReader:
    """Reads XML piece by piece; subclasses get its elements by their names without namespaces, and their text."""

    def __init__(self) -> None:
        self.path: list[str] = []
        self.text: list[str] | None = None  # pieces of the text that a subclass wants
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._doctype
        self._parser = parser

    def started(self, name: str, attributes: Attributes) -> None:
        """Take the start of the element at the end of `path`."""

    def ended(self, name: str) -> None:
        """Take the end of an element, which is no longer in `path`."""

    def read(self, stream: IO[bytes]) -> Iterator[None]:
        """Read a stream; yield after each piece."""
        while block := stream.read(_BLOCK):
            self._parser.Parse(block)
            yield
        self._parser.Parse(b"", True)  # noqa: FBT003 expat's signature
        yield

    def _start(self, name: str, attributes: Attributes) -> None:
        local = name.rpartition(" ")[2]
        self.path.append(local)
        self.started(local, attributes)

    def _end(self, name: str) -> None:
        self.ended(self.path.pop())

    def _characters(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)

    def _doctype(self, *_: object) -> None:
        raise DamagedPartError("documents of workbooks have no types, which could define entities without end")


def decoded(text: str) -> str:
    """Return a text of a workbook, in which `_x000D_` stands for a character (22.9.2.19)."""
    if "_x" not in text:
        return text
    plain = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class _Elements(XmlReader):
    """The elements at some paths below a small part's root."""

    def __init__(self, paths: Collection[str]) -> None:
        super().__init__()
        self.paths = paths
        self.found: list[tuple[str, Attributes]] = []

    def started(self, name: str, attributes: Attributes) -> None:
        path = "/".join(self.path[1:])
        if path in self.paths:
            self.found.append((path, attributes))


class _Texts(XmlReader):
    """The texts that cells share, without the pronunciation that East Asian ones may have."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def started(self, name: str, attributes: Attributes) -> None:
        if name == "si":
            self.text = None
            self._whole: list[str] = []
        elif name == "t" and self.path[-2] in {"si", "r"}:
            self.text = self._whole

    def ended(self, name: str) -> None:
        if name == "t":
            self.text = None
        elif name == "si":
            if len(self.found) == _MOST_TEXTS:
                raise DamagedPartError("too many texts")
            self.found.append(decoded("".join(self._whole)))


class BookParts(Struct, frozen=True):
    """What a workbook's archive says about its first visible sheet.

    Attributes:
        sheet: the sheet's name.
        part: the name of the sheet's part.
        epoch: the day from which dates are counted.
        formats: number formats by the numbers of cells' styles.
        texts: the texts that cells share.
    """

    sheet: str
    part: str
    epoch: datetime
    formats: Sequence[NumberFormat]
    texts: Sequence[str]


def read_parts(archive: ZipFile) -> BookParts:
    """Return what the archive says. Raises DamagedPartError, and errors of the archive and of XML."""
    [book] = [target for kind, target in _relations(archive, "").values() if kind.endswith("/officeDocument")]
    relations = _relations(archive, book)
    elements = _elements(archive, book, {"workbookPr", "sheets/sheet"})
    epoch = EPOCH_1900
    visible: list[tuple[str, str]] = []
    for path, attributes in elements:
        if path == "workbookPr":
            epoch = EPOCH_1904 if attributes.get("date1904", "").lower() in _TRUE else EPOCH_1900
        elif attributes.get("state", "visible") == "visible":
            [relation] = [value for name, value in attributes.items() if name.endswith(" id")]
            kind, target = relations[relation]
            if kind.endswith(_SHEET):
                visible.append((attributes["name"], target))
    if not visible:
        raise DamagedPartError("there is no visible sheet")
    name, part = visible[0]
    return BookParts(name, part, epoch, _formats(archive, relations), _texts(archive, relations))


def _relations(archive: ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """Return the types and the targets of a part's relations by their ids."""
    folder, name = posixpath.split(part)
    found = _elements(archive, posixpath.join(folder, "_rels", f"{name}.rels"), {"Relationship"})
    return {
        each["Id"]: (each["Type"], posixpath.normpath(posixpath.join("/", folder, each["Target"])).lstrip("/"))
        for _, each in found
        if each.get("TargetMode") != "External"
    }


def _formats(archive: ZipFile, relations: dict[str, tuple[str, str]]) -> list[NumberFormat]:
    codes: dict[int, str] = {}
    numbers: list[int] = []
    for part in (target for kind, target in relations.values() if kind.endswith(_STYLES)):
        for path, attributes in _elements(archive, part, {"numFmts/numFmt", "cellXfs/xf"}):
            if path == "numFmts/numFmt":
                codes[int(attributes["numFmtId"])] = attributes["formatCode"]
            else:
                numbers.append(int(attributes.get("numFmtId", "0")))
    found = {number: number_format(codes.get(number) or built_in_format(number)) for number in {0, *numbers}}
    return [found[number] for number in numbers or [0]]


def _texts(archive: ZipFile, relations: dict[str, tuple[str, str]]) -> list[str]:
    texts = _Texts()
    for part in (target for kind, target in relations.values() if kind.endswith(_TEXTS)):
        with archive.open(part) as stream:
            for _ in texts.read(stream):
                pass
    return texts.found


def _elements(archive: ZipFile, part: str, paths: Collection[str]) -> list[tuple[str, Attributes]]:
    if archive.getinfo(part).file_size > _LARGEST_PART:
        raise DamagedPartError(f"{part} is too large")
    elements = _Elements(paths)
    with archive.open(part) as stream:
        for _ in elements.read(stream):
            pass
    return elements.found
