"""Reads numbers that people type or send, by one reader for every door, and has their types.

A number has ASCII digits and at most one decimal point. Commas may separate thousands, but only in whole groups of
three, after one to three digits that do not begin with 0. Amounts may begin with `£`, percentages may end with `%`.
White space may surround a number. Zeros at the end are no decimal places, but for three places: `1.000` pounds are one
or a thousand. Everything else is an error, because a wrong guess costs money: `12,50` is neither 1250 nor 12.50
(specification, numbers and files that people make).

`Pounds`, `Percent`, `Kilograms` and `Millimetres` are decimals. `PoundsToCompare` are pounds with any places, because a
program may have calculated them, and never negative. An `int` is a count; it may have a sign if its bounds allow
negative numbers.
"""

import re
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from msgspec import Meta, Struct

from tradecounter.kit.text import plural

_NUMBER = re.compile(r"(?P<sign>[+-]?)(?P<digits>(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+)")
_PLAIN_POUNDS = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,2})?")
_AMOUNT = re.compile(r"(?P<sign>[+-]?)£?(?P<rest>[^+-].*)", re.DOTALL)
_MOST_DIGITS = 30
_ID = re.compile(r"[0-9]{1,18}")  # these fit into 64 bits
_THOUSANDS = 3  # digits after a separator of thousands
_LONGEST_SHOWN = 40  # characters of a value in an error

PENNY_PLACES = 2
EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)  # for numbers of any length, which clients send


class UnreadableNumberError(ValueError):
    """A text is not the number that is wanted; the message shows the text and says what is right."""


def read_pounds(text: str, *, signed: bool = False, commas: bool = True) -> Decimal:
    """Read an amount of pounds with at most two decimal places. Raises UnreadableNumberError.

    Without `signed`, a plus or minus sign is an error. Without `commas`, so is a comma: in a file whose cells are
    separated by semicolons or tabs, it may be a decimal comma.
    """
    if _PLAIN_POUNDS.fullmatch(text):  # nearly all amounts of a file; a shortcut
        return Decimal(text)
    match = _AMOUNT.fullmatch(text.strip())
    number = text if match is None else match["sign"] + match["rest"]
    return _read(text, number, PENNY_PLACES, "an amount in pounds and pence such as 1234.50", signed, commas)


def read_percent(text: str, *, places: int = 2, commas: bool = True) -> Decimal:
    """Read a percentage without a sign, with or without `%`. Raises UnreadableNumberError."""
    number = text.strip().removesuffix("%")
    return _read(text, number, places, "a percentage such as 12.5%", signed=False, commas=commas)


def read_decimal(text: str, *, places: int | None = None, signed: bool = False, commas: bool = True) -> Decimal:
    """Read a number with at most `places` decimal places. Raises UnreadableNumberError."""
    return _read(text, text.strip(), places, "a number such as 1234.5", signed, commas)


def read_count(text: str, *, signed: bool = False, commas: bool = True) -> int:
    """Read a whole number. Raises UnreadableNumberError, also for a decimal point: `1.000` is one or a thousand."""
    return int(_read(text, text.strip(), 0, "a whole number such as 1200", signed, commas))


def count_or_nothing(text: str, most: int) -> int:
    """Return a whole number from 1 to `most`; 0 for other texts, such as one that is still being typed."""
    try:
        count = read_count(text)
    except UnreadableNumberError:
        return 0
    return count if 0 < count <= most else 0


def read_id(text: str) -> int | None:
    """Return the id in a text of digits; None for other texts and for more digits than the database holds."""
    return int(text) if _ID.fullmatch(text) else None


def too_exact(text: str, places: int) -> str:
    """Return the error for a number with more than `places` decimal places."""
    return f"{_short(text)!r} has more than {plural(places, 'decimal place')}"


def _short(text: str) -> str:
    return f"{text[:_LONGEST_SHOWN]}…" if len(text) > _LONGEST_SHOWN else text


def _read(text: str, number: str, places: int | None, wanted: str, signed: bool, commas: bool) -> Decimal:
    shown = _short(text.strip())
    match = _NUMBER.fullmatch(number)
    if match is None or (places == 0 and "." in number):
        comma = ", with commas only between thousands" if "," in number and commas else ""
        raise UnreadableNumberError(f"{shown!r} is not {wanted}{comma}")
    if not commas and "," in number:
        raise UnreadableNumberError(
            f"{shown!r} has a comma, which may be a decimal comma in a file with semicolons or tabs: write it without"
        )
    if match["sign"] and not signed:
        raise UnreadableNumberError(f"{shown!r} has a sign, which has no meaning here: leave it out")
    digits = match["digits"].replace(",", "")
    if len(digits) > _MOST_DIGITS:
        raise UnreadableNumberError(f"{shown!r} has more than {_MOST_DIGITS} digits")
    decimals = digits.partition(".")[2]
    exact = decimals if len(decimals) == _THOUSANDS else decimals.rstrip("0")
    if places is not None and len(exact) > places:
        raise UnreadableNumberError(too_exact(shown, places))
    return Decimal(match["sign"] + digits)


def alternatives(annotation: Any) -> list[Any]:
    """Return a type's alternatives without annotations: `Annotated[int, …] | None` gives int and None."""
    if get_origin(annotation) is Annotated:
        return alternatives(get_args(annotation)[0])
    if get_origin(annotation) in {Union, UnionType}:
        return [option for part in get_args(annotation) for option in alternatives(part)]
    return [annotation]


def is_struct(option: Any) -> bool:
    """Return whether one of a type's alternatives is a struct."""
    return isinstance(option, type) and issubclass(option, Struct)


def metas(annotation: Any) -> list[Meta]:
    """Return the annotations of a type and of its alternatives."""
    if get_origin(annotation) is Annotated:
        inner, *annotations = get_args(annotation)
        return [*metas(inner), *(meta for meta in annotations if isinstance(meta, Meta))]
    if get_origin(annotation) in {Union, UnionType}:
        return [meta for part in get_args(annotation) for meta in metas(part)]
    return []


_PERCENT_PLACES = 2
KILOGRAM_PLACES = 3
MILLIMETRE_PLACES = 1

Id = Annotated[int, Meta(ge=1, le=2**63 - 1)]  # as the database holds them


def in_kilograms(weight: Decimal) -> str:
    """Return a weight for people: 30.5 kg."""
    return f"{weight.normalize():f} kg"


_FIELD_MARK = "number"  # the mark in a type's notes


class NumberField(NamedTuple):
    """What a field's number is, how many decimal places it may have, and the least value, if there is one."""

    kind: Literal["pounds", "percent", "measure", "count"]
    places: int
    signed: bool = False
    least: int | None = None

    def read(self, text: str, *, commas: bool = True) -> Decimal | int:
        """Return the number in a text, read by the reader of its kind. Raises UnreadableNumberError."""
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
        """Raise UnreadableNumberError for too many decimal places, without zeros at the end, and below the least."""
        exponent = value.normalize(EXACT).as_tuple().exponent
        if isinstance(exponent, int) and -exponent > self.places:
            raise UnreadableNumberError(too_exact(str(value), self.places))
        if self.least is not None and value < self.least:
            raise UnreadableNumberError(f"must be an amount of {self.kind}, {self.least} or more")


def _marked(field: NumberField) -> Meta:
    return Meta(extra={_FIELD_MARK: field})


Pounds = Annotated[Decimal, _marked(NumberField("pounds", PENNY_PLACES))]
PoundsToCompare = Annotated[Decimal, _marked(NumberField("pounds", MAX_PREC, least=0))]
Percent = Annotated[Decimal, _marked(NumberField("percent", _PERCENT_PLACES))]
Kilograms = Annotated[Decimal, _marked(NumberField("measure", KILOGRAM_PLACES))]
Millimetres = Annotated[Decimal, _marked(NumberField("measure", MILLIMETRE_PLACES))]


def number_of(annotation: Any) -> NumberField | None:
    """Return what a type's number is; None for a type that is no number, or that may also be a text.

    Raises TypeError for a plain `Decimal`.
    """
    options = alternatives(annotation)
    if str in options:
        return None
    notes = metas(annotation)
    marks = [note.extra[_FIELD_MARK] for note in notes if note.extra is not None and _FIELD_MARK in note.extra]
    if marks:
        mark: NumberField = marks[0]
        return mark
    if Decimal in options:
        raise TypeError("a decimal is read as one of the types in this module")
    if int in options:
        bounds = [bound for note in notes for bound in (note.ge, note.gt) if bound is not None]
        return NumberField("count", 0, signed=any(bound < 0 for bound in bounds))
    return None
