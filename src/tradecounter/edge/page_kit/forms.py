"""Reads forms into structs, with an error for each invalid field.

A repeated group of fields has numbered names: `items-0-quantity` is `items[0].quantity` in the struct and in errors. An
empty field counts as absent. White space around a value is removed. The type of a field decides how a number is read
(`kit/numbers.py`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Any, Generic, TypeVar, get_args, get_origin

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from tradecounter.edge.page_kit.submitted_forms import Submitted
from tradecounter.kit.clock import moment_of
from tradecounter.kit.errors import DomainError, FieldError, Kind
from tradecounter.kit.json_text import read_json, to_json
from tradecounter.kit.numbers import UnreadableNumberError, alternatives, is_struct, number_of
from tradecounter.kit.validation_messages import field_errors_of

Shape = TypeVar("Shape", bound=Struct)

MOST_ROWS = 1_000

_INDEX = re.compile(r"\[(\d+)\]")
_TRUE = {"true", "on", "1", "yes"}
_UNREADABLE = object()  # stands for a number that cannot be read; no type accepts it


def row_numbers(fields: Iterable[str], name: str) -> list[int]:
    """Return the numbers of a group's rows among the names of fields: 0 for `items-0-sku` of `items`."""
    numbered = re.compile(rf"{re.escape(name)}-(\d{{1,4}})-")
    return sorted({int(match[1]) for field in fields if (match := numbered.match(field))})


def form_name(place: str) -> str:
    """Return the name of a form's field for a place in its struct: `items-0-quantity` for `items[0].quantity`."""
    return _INDEX.sub(r"-\1", place).replace(".", "-")


class _Reading(Struct, Generic[Shape]):
    """Reads a form into a struct.

    Attributes:
        submitted: the form.
        rows: the numbers of the rows of each group, in their order.
        unreadable: the reason why a number is unreadable, by the form's name of its field.
    """

    submitted: Submitted
    rows: dict[str, list[int]] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)

    def struct(self, shape: type[Struct], prefix: str = "") -> dict[str, Any]:
        members = {}
        for member in msgspec.structs.fields(shape):
            value = self._member(member.type, prefix + member.encode_name)
            if value is not None:
                members[member.encode_name] = value
        return members

    def _member(self, annotation: Any, name: str) -> Any:
        options = alternatives(annotation)
        listed = next((option for option in options if get_origin(option) is list), None)
        if listed is not None:
            [element] = get_args(listed)
            shapes = [o for o in alternatives(element) if is_struct(o)]
            if shapes:
                return self._rows(shapes[0], name)
            values = [value.strip() for value in self.submitted.values.get(name, ())]
            return [self._value(element, alternatives(element), name, value) for value in values if value]
        if shapes := [o for o in options if is_struct(o)]:
            return self.struct(shapes[0], f"{name}-") or None
        value = self.submitted.one(name)
        return None if value == "" else self._value(annotation, options, name, value)

    def _value(self, annotation: Any, options: Sequence[Any], name: str, value: str) -> Any:
        """Return a value as msgspec reads it."""
        if bool in options:
            return value.lower() in _TRUE
        if (number := number_of(annotation)) is not None:
            try:
                return number.read(value)
            except UnreadableNumberError as error:
                self.unreadable[name] = str(error)
                return _UNREADABLE
        if datetime in options and date not in options:
            try:
                return moment_of(value if value.count(":") > 1 else f"{value}:00")
            except ValueError:
                return value
        return value

    def _rows(self, shape: type[Struct], name: str) -> list[dict[str, Any]]:
        numbers = row_numbers(self.submitted.values, name)
        if len(numbers) > MOST_ROWS:
            raise DomainError(Kind.TOO_LARGE, f"{name}: there are more than {MOST_ROWS} rows")
        rows = [(number, self.struct(shape, f"{name}-{number}-")) for number in numbers]
        filled = [(number, row) for number, row in rows if row]
        self.rows[name] = [number for number, _ in filled]
        return [row for _, row in filled]

    def worded(self, errors: Iterable[FieldError]) -> Iterator[FieldError]:
        """Yield errors with the form's places and reasons, in words for people."""
        for error in self.renumbered(errors):
            reason = self.unreadable.get(form_name(error.field))
            yield replace(error, message=_for_people(error.message) if reason is None else reason)

    def renumbered(self, errors: Iterable[FieldError]) -> Iterator[FieldError]:
        """Yield errors with the numbers that the rows have in the form."""
        for error in errors:
            name = error.field.partition("[")[0]
            match = _INDEX.search(error.field)
            numbers = self.rows.get(name)
            if match is None or numbers is None or int(match[1]) >= len(numbers):
                yield error
            else:
                place = error.field.replace(match[0], f"[{numbers[int(match[1])]}]", 1)
                yield replace(error, field=place)


def _for_people(message: str) -> str:
    """Return a message without what concerns only JSON: forms have no null, and all their values are texts."""
    return message.replace(" or null", "").replace(", not text", "")


def parse_form(submitted: Submitted, shape: type[Shape]) -> Shape:
    """Return a form as a struct. Raises DomainError (invalid), which names all invalid fields.

    A time without an offset, such as a browser sends, is UK local time.
    """
    reading: _Reading[Shape] = _Reading(submitted)
    members = reading.struct(shape)
    errors = list(reading.worded(field_errors_of(members, shape)))
    if not errors:
        try:
            return msgspec.convert(members, shape)
        except msgspec.ValidationError as error:
            raise DomainError(Kind.INVALID, str(error)) from error
    message = "; ".join(map(str, errors[:20]))
    raise DomainError(Kind.INVALID, message, field_errors=errors)


class EditForm(Struct, kw_only=True):
    """A form that changes a record; its hidden field `was` has what `fields_shown` returned when it was shown."""

    was: str = ""

    def differences(self) -> dict[str, Any]:
        """Return the fields that the person has changed, so that the others keep what others make of them meanwhile.

        If `was` is empty, these are all fields. Raises DomainError (invalid) if `was` has not the fields of this form.
        """
        values = {name: getattr(self, name) for name in self.__struct_fields__ if name != "was"}
        if not self.was:
            return values
        shown = read_json(self.was.encode(), type(self), "was")
        return {name: value for name, value in values.items() if not _is_same(value, getattr(shown, name))}


def _is_same(value: Any, shown: Any) -> bool:
    return bool(sorted(value) == sorted(shown) if isinstance(value, list) else value == shown)  # boxes have no order


def fields_shown(form: type[Struct], record: Any) -> str:
    """Return the fields of a record that an `EditForm` shows, as JSON. An empty text is absent, as in a form."""
    names = [name for name in form.__struct_fields__ if name != "was"]
    return to_json({name: value for name in names if (value := getattr(record, name)) != ""}).decode()


def renumbered(error: DomainError, submitted: Submitted, shape: type[Struct]) -> DomainError:
    """Return an error of a parsed form with the form's numbers of rows.

    Empty rows are left out of the struct, so its rows may have other numbers.
    """
    if not error.field_errors:
        return error
    reading: _Reading[Struct] = _Reading(submitted)
    reading.struct(shape)
    errors = list(reading.renumbered(error.field_errors))
    return DomainError(error.kind, error.message, code=error.code, field_errors=errors)
