"""The types of fields that are numbers. A field's type says how its text is read, at every door.

`Pounds`, `Percent`, `Kilograms` and `Millimetres` are decimals; a plain `Decimal` is an amount of pounds. An `int` is a
count; it may have a sign if its bounds allow negative numbers.
"""

from decimal import Decimal
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from msgspec import Meta

from tradecounter.kit.numbers import (
    PENNY_PLACES,
    check_places,
    read_count,
    read_decimal,
    read_percent,
    read_pounds,
)


def alternatives(annotation: Any) -> list[Any]:
    """Return a type's alternatives without annotations: `Annotated[int, …] | None` gives int and None."""
    if get_origin(annotation) is Annotated:
        return alternatives(get_args(annotation)[0])
    if get_origin(annotation) in {Union, UnionType}:
        return [option for part in get_args(annotation) for option in alternatives(part)]
    return [annotation]


def metas(annotation: Any) -> list[Meta]:
    """Return the annotations of a type and of its alternatives."""
    if get_origin(annotation) is Annotated:
        inner, *found = get_args(annotation)
        return [*metas(inner), *(meta for meta in found if isinstance(meta, Meta))]
    if get_origin(annotation) in {Union, UnionType}:
        return [meta for part in get_args(annotation) for meta in metas(part)]
    return []


_PERCENT_PLACES = 2
KILOGRAM_PLACES = 3
MILLIMETRE_PLACES = 1

Id = Annotated[int, Meta(ge=1, le=2**63 - 1)]  # as the database holds them

_NUMBER = "number"  # the mark in a type's notes


class NumberField(NamedTuple):
    """What a field's number is, and how many decimal places it may have."""

    kind: Literal["pounds", "percent", "measure", "count"]
    places: int
    signed: bool = False

    def read(self, text: str, *, commas: bool = True) -> Decimal | int:
        """Return the number in a text, as `kit/numbers.py` reads it. Raises UnreadableNumberError."""
        match self.kind:
            case "pounds":
                return read_pounds(text, signed=self.signed, commas=commas)
            case "percent":
                return read_percent(text, places=self.places, commas=commas)
            case "measure":
                return read_decimal(text, places=self.places, signed=self.signed, commas=commas)
            case "count":
                return read_count(text, signed=self.signed, commas=commas)

    def check(self, value: Decimal) -> None:
        """Check a number from JSON, whose text is not known. Raises UnreadableNumberError."""
        check_places(value, self.places)


def _marked(field: NumberField) -> Meta:
    return Meta(extra={_NUMBER: field})


Pounds = Annotated[Decimal, _marked(NumberField("pounds", PENNY_PLACES))]
Percent = Annotated[Decimal, _marked(NumberField("percent", _PERCENT_PLACES))]
Kilograms = Annotated[Decimal, _marked(NumberField("measure", KILOGRAM_PLACES))]
Millimetres = Annotated[Decimal, _marked(NumberField("measure", MILLIMETRE_PLACES))]


def number_of(annotation: Any) -> NumberField | None:
    """Return what a type's number is; None for a type that is no number, or that may also be a text."""
    options = alternatives(annotation)
    if str in options:
        return None
    notes = _notes(annotation)
    marks = [note.extra[_NUMBER] for note in notes if note.extra is not None and _NUMBER in note.extra]
    if marks:
        found: NumberField = marks[0]
        return found
    if Decimal in options:
        return NumberField("pounds", PENNY_PLACES)
    if int in options:
        bounds = [bound for note in notes for bound in (note.ge, note.gt) if bound is not None]
        return NumberField("count", 0, signed=any(bound < 0 for bound in bounds))
    return None


def _notes(annotation: Any) -> list[Meta]:
    """Return the notes of a type and of its alternatives, the outer ones first."""
    if get_origin(annotation) is Annotated:
        inner, *notes = get_args(annotation)
        return [*(note for note in notes if isinstance(note, Meta)), *_notes(inner)]
    if get_origin(annotation) in {list, dict, tuple, Literal}:
        return []
    return [note for part in get_args(annotation) for note in _notes(part)]
