"""Reads cells in the forms that people and spreadsheets use: `yes`, `1,200.00`, `£5.00`, `01/12/2026`.

Numbers are read as their types say (`kit/numbers.py`). Any other cell that is not a value of its field's type is
returned unchanged; the validator reports it.
"""

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal, Protocol, get_args, get_origin

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tradecounter.kit.csv_text import unguarded
from tradecounter.kit.errors import DomainError
from tradecounter.kit.json_text import decode_json
from tradecounter.kit.numbers import NumberField, UnreadableNumberError, alternatives, is_struct, metas, number_of

FieldType = Literal["text", "number", "date", "time", "boolean"]


class TypedCell(Protocol):
    """A cell of a sheet that is not text; as a string, it is what the sheet shows."""

    def text_for(self, field: FieldType) -> str:
        """Return the cell's text for a type of field. Raises UnreadableCellError."""


Cell = str | TypedCell
ReadText = Callable[[str], Any]
ReadCell = Callable[[Cell], Any]


class UnreadableCellError(ValueError):
    """A cell cannot be read as a value; the message has the reason."""


# Marks for string fields whose cells may have several forms. JSON files are read strictly.
MOMENT = Meta(extra={"cell": "moment"})
TIME = Meta(extra={"cell": "time"})

# Spreadsheets write these into CSV files for failed formulas.
_FAILED = {"#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!", "#GETTING_DATA"}
_SPECIAL = "#'="  # the beginnings of these, and of what guards a text from spreadsheets

_BOOLEANS = {"yes": True, "y": True, "true": True, "1": True, "no": False, "n": False, "false": False, "0": False}
_UK_DATE = re.compile(r"(?P<day>[0-9]{1,2})/(?P<month>[0-9]{1,2})/(?P<year>[0-9]{4})(?P<time> [0-9]{1,2}:[0-9:]+)?")
_MIDNIGHT = re.compile(r"[ T]0?0:00(:00(\.0+)?)?")
_TIME = re.compile(r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?P<second>:[0-9]{2})?")


def cell_reader(annotation: Any, *, commas: bool = True) -> ReadCell:
    """Return the function that converts a cell to a value of a type; it raises UnreadableCellError.

    Without `commas`, numbers have none: where semicolons or tabs separate cells, it may be a decimal comma.
    An empty cell becomes null, an empty string or an absent value: the first of these that the type allows.
    If the type allows no empty string and no absent value either, it is an empty string, which the validator reports.
    """
    options = alternatives(annotation)
    number = number_of(annotation)
    read = _reader(annotation, options) if number is None else _number_reader(number, commas=commas)
    field = _field_type(annotation, options) if number is None else "number"
    text = str in options and not (UnsetType in options and any(meta.min_length for meta in metas(annotation)))
    empty = None if type(None) in options else "" if text else UNSET

    def read_cell(cell: Cell) -> Any:
        text = cell_text(cell, field)
        return read(text) if text else empty

    return read_cell


def cell_text(cell: Cell, field: FieldType) -> str:
    """Return a cell's text for a type of field, without what guards it. Raises UnreadableCellError."""
    text = (cell if isinstance(cell, str) else cell.text_for(field)).strip()
    if text and text[0] in _SPECIAL:
        if text in _FAILED:
            raise UnreadableCellError(f"contains the spreadsheet error {text}")
        text = unguarded(text).strip()
    return text


def _reader(annotation: Any, options: list[Any]) -> ReadText:
    readers = {"moment": _moment, "time": _time}
    marks = [readers[mark] for mark in _marks(annotation)]
    if marks:
        return marks[0]
    for option in options:
        if get_origin(option) is list:
            return _list_reader(get_args(option)[0])
        if get_origin(option) is dict:
            return _json
        if get_origin(option) is Literal:
            return _choice_reader(get_args(option))
        if option in _READERS:
            return _READERS[option]
    return _text


def _field_type(annotation: Any, options: list[Any]) -> FieldType:
    marks: dict[str, FieldType] = {"moment": "date", "time": "time"}
    types: dict[Any, FieldType] = {bool: "boolean", date: "date"}
    known = [*(marks[mark] for mark in _marks(annotation)), *(types[o] for o in options if o in types)]
    return next(iter(known), "text")


def _marks(annotation: Any) -> list[str]:
    if get_origin(annotation) is Annotated:
        inner, *notes = get_args(annotation)
        marks = [note.extra["cell"] for note in notes if isinstance(note, Meta) and note.extra and "cell" in note.extra]
        return [*marks, *_marks(inner)]
    return [mark for part in get_args(annotation) for mark in _marks(part)]


def _text(text: str) -> str:
    return text


def _json(text: str) -> Any:
    try:
        return decode_json(text.encode())
    except DomainError as error:
        raise UnreadableCellError(error.message.replace("the body", "the cell", 1)) from error


def _list_reader(element: Any) -> ReadText:
    """Return the function that reads a list: JSON or, for strings, elements separated by `|`."""
    names = [field.encode_name for field in msgspec.structs.fields(element)] if is_struct(element) else []
    if len(names) > 1 or (not names and str not in alternatives(element)):
        return _json

    def read_list(text: str) -> Any:
        if text.startswith("["):
            return _json(text)
        parts = [part for piece in text.split("|") if (part := piece.strip())]
        return [{names[0]: part} for part in parts] if names else parts

    return read_list


def _choice_reader(choices: tuple[str, ...]) -> ReadText:
    by_folded = {choice.casefold(): choice for choice in choices}
    return lambda text: by_folded.get(text.casefold(), text)


def _boolean(text: str) -> bool | str:
    return _BOOLEANS.get(text.casefold(), text)


def _number_reader(number: NumberField, *, commas: bool) -> ReadText:
    def read(text: str) -> Decimal | int:
        try:
            return number.read(text, commas=commas)
        except UnreadableNumberError as error:
            raise UnreadableCellError(str(error)) from error

    return read


def _uk_date(text: str) -> str:
    """Convert a date in the form DD/MM/YYYY to `YYYY-MM-DD`, with its time if present."""
    match = _UK_DATE.fullmatch(text)
    if match is None:
        return text
    day = f"{match['year']}-{int(match['month']):02}-{int(match['day']):02}"
    return day if match["time"] is None else f"{day}T{_clock(match['time'].strip(), seconds=True)}"


def _day(text: str) -> str:
    """Read a date; accepts a time of midnight, which database exports append."""
    midnight = _MIDNIGHT.search(text)
    return _uk_date(text[: midnight.start()] if midnight and midnight.end() == len(text) else text)


def _moment(text: str) -> str:
    day, space, time = text.partition(" ")
    return f"{day}T{_clock(time, seconds=True)}" if space and "-" in day else _uk_date(text)


def _time(text: str) -> str:
    return _clock(text, seconds=False)


def _clock(text: str, *, seconds: bool) -> str:
    """Convert a time of day to `HH:MM:SS`, or to `HH:MM` if its seconds are missing or zero."""
    match = _TIME.fullmatch(text)
    if match is None or (not seconds and match["second"] not in {None, ":00"}):
        return text
    return f"{int(match['hour']):02}:{match['minute']}" + ((match["second"] or ":00") if seconds else "")


_READERS: dict[Any, ReadText] = {bool: _boolean, date: _day}
