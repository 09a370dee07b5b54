"""Number formats of spreadsheets: what a cell shows of its number (ECMA-376 part 1, 18.8.30 and 18.8.31)."""

import operator
import re
import unicodedata
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Literal

import pycountry
from msgspec import Struct

Moment = Literal["date", "time"]
_Piece = tuple[Literal["shown", "code", "general"], str]

_GENERAL = "General"
_DATE = "yyyy-mm-dd"
_TIME = "h:mm:ss"
# Formats that files name by number alone; 5 to 8, 42 and 44 are in dollars there. The Far East's are dates.
_BUILT_IN = {
    0: _GENERAL, 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?",
    13: "# ??/??", 37: "#,##0", 38: "#,##0", 39: "#,##0.00", 40: "#,##0.00", 41: "#,##0", 43: "#,##0.00",
    48: "##0.0E+0", 49: "@",
    **dict.fromkeys((5, 6, 42), '"$"#,##0'),
    **dict.fromkeys((7, 8, 44), '"$"#,##0.00'),
    **dict.fromkeys((*range(14, 18), 22, *range(27, 32), 36, *range(50, 59)), _DATE),
    **dict.fromkeys((*range(18, 22), *range(32, 36), 45, 46, 47), _TIME),
}  # fmt: skip

# A quoted text, an escaped character, the width of a character, a character that fills the cell, brackets, the rest.
_TOKEN = re.compile(r'"([^"]*)"?|\\(.)|_(.)|\*(.)|\[([^\]]*)\]|(general)|(.)', re.IGNORECASE | re.DOTALL)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)(-?[0-9]+(?:\.[0-9]*)?)")
_CONDITIONS: dict[str, Callable[[Decimal, Decimal], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "<>": operator.ne
}  # fmt: skip
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
_PLACES = "0#?"
_CODES = "0#?.,%eE/@"  # what stands for digits and their form; other plain characters are shown

_OURS = {"£", "GBP"}
_WORD = re.compile(r"[^\W\d_]+\.?")
# The signs of other currencies that are words, and pence, a hundred of which are a pound.
_OTHER_MONEY = {
    "kr", "kr.", "zł", "kč", "ft", "fr", "fr.", "sfr.", "lei", "lv", "лв", "rs", "rs.", "eur", "euro", "usd", "p"
}  # fmt: skip
_EXACT = Context(prec=600)  # a format has at most 255 places


class Section(Struct, frozen=True):
    """The part of a number format that applies to some numbers.

    Attributes:
        pieces: texts that are shown, codes such as `0`, and where the number stands as it is.
        holds: whether the section applies to a number; None for the section of a sign, or of all other numbers.
        percents: the number of `%`, each of which shows a hundred times the number.
        currency: the sign of a currency other than the pound, if the section has one.
        moment: whether numbers are shown as dates or as times; None for other numbers.
        scientific: whether numbers are shown with an exponent.
    """

    pieces: tuple[_Piece, ...]
    holds: Callable[[Decimal], bool] | None
    percents: int
    currency: str | None
    moment: Moment | None
    scientific: bool


class NumberFormat(Struct, frozen=True):
    """A number format; its sections are for positive and negative numbers and zero, or have conditions."""

    code: str
    sections: tuple[Section, ...]

    @property
    def moment(self) -> Moment | None:
        """Whether the format is one of dates or of times."""
        return self.sections[0].moment

    def section_of(self, number: Decimal) -> Section:
        """Return the section that applies to a number."""
        sections = self.sections
        if any(section.holds for section in sections):
            return next((s for s in sections if s.holds is None or s.holds(number)), sections[-1])
        if number < 0 and len(sections) > 1:
            return sections[1]
        return sections[2] if number == 0 and len(sections) > 2 else sections[0]  # noqa: PLR2004 plus, minus, zero

    def shown(self, number: Decimal) -> str | None:
        """Return what a cell shows of a number; None if that is not all of its digits, or depends on the program."""
        section = self.section_of(number)
        unsigned = section is self.sections[0]  # the others say how they show negative numbers
        shown = _shown(section.pieces, abs(number) * 100**section.percents)
        if shown is None or not shown.strip():
            return None
        return f"-{shown}" if number < 0 and unsigned else shown


def number_format(code: str) -> NumberFormat:
    """Return the number format of a code such as `0.00%;[Red]-0.00%`."""
    sections = [_section(tokens) for tokens in _sections(code)]
    return NumberFormat(code, tuple(sections[:3]))  # the fourth is for texts


def built_in_format(number: int) -> str:
    """Return the code of a format that a file names by its number alone."""
    return _BUILT_IN.get(number, _GENERAL)


def _sections(code: str) -> list[list[re.Match[str]]]:
    sections: list[list[re.Match[str]]] = [[]]
    for token in _TOKEN.finditer(code or _GENERAL):
        if token[7] == ";":
            sections.append([])
        else:
            sections[-1].append(token)
    return sections


def _section(tokens: list[re.Match[str]]) -> Section:
    pieces: list[_Piece] = []
    holds: Callable[[Decimal], bool] | None = None
    moment: Moment | None = None
    elapsed = False
    signs = ""
    for token in tokens:
        quoted, escaped, width, filling, bracket, general, plain = token.groups()
        if bracket is not None:
            condition = _CONDITION.fullmatch(bracket)
            if condition is not None:
                holds = _holds(condition[1], Decimal(condition[2]))
            elif _ELAPSED.fullmatch(bracket):
                elapsed = True
            elif bracket.startswith("$"):
                sign = bracket[1:].partition("-")[0]
                signs += f" {sign} "
                pieces.append(("shown", sign))
        elif general is not None:
            pieces.append(("general", general))
        elif plain is not None and plain in _CODES:
            pieces.append(("code", plain))
        elif plain is not None and plain in "dDyYhHmMsS":
            moment = "date" if plain in "dDyY" else moment or "time"
        elif filling is None:
            shown = " " if width is not None else quoted or escaped or plain or ""
            signs += shown
            pieces.append(("shown", shown))
    codes = [text for what, text in pieces if what == "code"]
    return Section(
        pieces=tuple(pieces),
        holds=holds,
        percents=codes.count("%"),
        currency=_foreign(signs),
        moment="time" if elapsed else _of_months(tokens, moment),
        scientific="E" in codes or "e" in codes,
    )


def _of_months(tokens: list[re.Match[str]], moment: Moment | None) -> Moment | None:
    """Return whether a format of nothing but months, such as `mmm`, is a date: with hours or seconds `m` is minutes."""
    plain = {token[7].lower() for token in tokens if token[7] is not None}
    return "date" if moment == "time" and not plain & {"h", "s"} else moment


def _holds(sign: str, bound: Decimal) -> Callable[[Decimal], bool]:
    compare = _CONDITIONS[sign]
    return lambda number: bool(compare(number, bound))


def _foreign(signs: str) -> str | None:
    """Return the sign of a currency other than the pound in what a format shows besides the number."""
    for character in signs:
        if character not in _OURS and unicodedata.category(character) == "Sc":
            return character
    words: list[str] = [*signs.split(), *_WORD.findall(signs)]
    for word in words:
        known = word.isupper() and word not in _OURS and pycountry.currencies.get(alpha_3=word) is not None
        if known or word.casefold() in _OTHER_MONEY:
            return word
    return None


def _shown(pieces: tuple[_Piece, ...], number: Decimal) -> str | None:
    codes = "".join([text for what, text in pieces if what == "code"])
    general = sum(1 for what, text in pieces if what == "general" or (text == "@" and what == "code"))
    if any(code in codes for code in "eE/") or codes.count(".") > 1 or general > 1:
        return None
    form = codes.replace("%", "").replace("@", "")
    if general:
        return None if form else "".join(_with_number(pieces, f"{number:f}"))
    whole, _, fraction = form.partition(".")
    if not any(place in form for place in _PLACES) or whole.endswith(",") or fraction.endswith(","):
        return None  # nothing of the number, or its thousands
    places = len(fraction.replace(",", ""))
    rounded = number.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP, context=_EXACT)
    return None if rounded != number else "".join(_in_places(pieces, f"{rounded:f}", grouped="," in whole))


def _with_number(pieces: tuple[_Piece, ...], number: str) -> Iterator[str]:
    for what, text in pieces:
        yield text if what == "shown" or text == "%" else number


def _in_places(pieces: tuple[_Piece, ...], number: str, *, grouped: bool) -> Iterator[str]:
    """Yield what is shown of a number whose digits take the places of a format, such as `000-000` or `#,##0.00`."""
    whole, _, fraction = number.partition(".")
    whole = whole.lstrip("0")
    point = next((n for n, (what, text) in enumerate(pieces) if what == "code" and text == "."), len(pieces))
    places = sum(1 for what, text in pieces[:point] if what == "code" and text in _PLACES)
    left = whole.rjust(places)  # blanks where there is no digit
    extra = left[: len(left) - places]
    left = left[len(left) - places :]
    decimals = iter(fraction)
    kept = len(fraction.rstrip("0"))
    for index, (what, text) in enumerate(pieces):
        if what == "shown" or text == "%":
            yield text
        elif text in _PLACES and index < point:
            digits = extra + left[0]
            extra = ""
            left = left[1:]
            yield from _grouped(_filled(digits, text), len(left), grouped=grouped)
        elif text == "." and index == point:
            yield "."
        elif text in _PLACES:
            kept -= 1
            digit = next(decimals)
            yield digit if kept >= 0 or text == "0" else " " if text == "?" else ""


def _filled(digits: str, place: str) -> str:
    return digits.replace(" ", {"0": "0", "#": "", "?": " "}[place])


def _grouped(digits: str, following: int, *, grouped: bool) -> Iterator[str]:
    """Yield digits, with a comma before each group of three that `following` further digits end."""
    for index, digit in enumerate(digits):
        yield digit
        rest = following + len(digits) - index - 1
        if grouped and digit != " " and rest and rest % 3 == 0:
            yield ","
