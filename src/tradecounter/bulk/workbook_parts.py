"""Reads the parts of a workbook's archive: its first visible sheet, number formats and shared texts."""

import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import IO
from xml.parsers import expat
from zipfile import ZipFile

from msgspec import Struct

from tradecounter.bulk.number_formats import NumberFormat, built_in_format, number_format
from tradecounter.bulk.workbook_cells import EPOCH_1900, EPOCH_1904

_BLOCK = 1 << 13  # bytes: some 300 rows, and a row may begin with 16,000 empty cells
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
    """The contents of a workbook's archive that concern its first visible sheet.

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
    """Return the contents of the archive. Raises DamagedPartError, and errors of the archive and of XML."""
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
    return BookParts(
        sheet=name,
        part=part,
        epoch=epoch,
        formats=_formats(archive, relations),
        texts=_texts(archive, relations),
    )


def _relations(archive: ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """Return the types and the targets of a part's relations by their ids."""
    folder, name = posixpath.split(part)
    elements = _elements(archive, posixpath.join(folder, "_rels", f"{name}.rels"), {"Relationship"})
    return {
        each["Id"]: (each["Type"], posixpath.normpath(posixpath.join("/", folder, each["Target"])).lstrip("/"))
        for _, each in elements
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
    formats = {number: number_format(codes.get(number) or built_in_format(number)) for number in {0, *numbers}}
    return [formats[number] for number in numbers or [0]]


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
