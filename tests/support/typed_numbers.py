"""Numbers as people type them, and what each door makes of them: the number, or what it says is wrong.

Bank files have signs: their amounts are `SIGNED_AMOUNTS`.
"""

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

import httpx2

Outcome = Decimal | str  # the number, or the message

_PROBLEM = re.compile(r'<li><a href="#(?:form|order)-([^"]+)">[^<]*</a> (.*?)</li>')

_POUNDS = "is not an amount in pounds and pence such as 1234.50"
_PERCENT = "is not a percentage such as 12.5%"
_COUNT = "is not a whole number such as 1200"
_WEIGHT = "is not a number such as 1234.5"
_THOUSANDS = ", with commas only between thousands"
_SIGN = "has a sign, which has no meaning here: leave it out"
_PLACES = "has more than {} decimal places"
_COMMA = "has a comma, which may be a decimal comma in a file with semicolons or tabs: write it without"


@dataclass(frozen=True)
class Typed:
    """A text, and the number in it or what is wrong with it."""

    text: str
    number: Decimal | None
    problem: str = ""

    @property
    def message(self) -> str:
        """What a door says where the text is no number."""
        return f"{self.text.strip()!r} {self.problem}"

    @property
    def between_semicolons(self) -> "Typed":
        """The same in a file whose cells semicolons or tabs separate: no comma is right there."""
        if "," not in self.text:
            return self
        plain = self.problem.removesuffix(_THOUSANDS)
        return Typed(self.text, None, plain if plain != self.problem else _COMMA)


def _right(**numbers: str) -> list[Typed]:
    return [Typed(text, Decimal(number)) for text, number in numbers.items()]


def _wrong(problem: str, *texts: str) -> list[Typed]:
    return [
        Typed(text, None, problem + (_THOUSANDS if "," in text and problem.startswith("is not") else ""))
        for text in texts
    ]


_ODD = (
    "1_000",
    "1 000",
    "1\u00a0000",
    "1'000",
    "\uff11\uff12",
    "\u0661\u0662",
    "1e3",
    "1E2",
    "NaN",
    "Infinity",
    "0x10",
    "--5",
    "five",
    "1.2.3",
    "5-",
)
_COMMAS = (
    "12,50",
    "1,5",
    "0,75",
    "0,125",
    "1,23,456",
    "12,3456",
    "1234,567",
    "01,234",
    ",123",
    "1,234,56",
    "1.234,56",
    "1,,234",
)

AMOUNTS = [
    *_right(**{
        "12": "12", "12.5": "12.5", "12.50": "12.5", " 12.50 ": "12.5", "£12.50": "12.5", "007": "7", ".5": "0.5",
        "5.": "5", "1.5000": "1.5",
        "1,234": "1234", "£1,234.50": "1234.5", "1,234,567.89": "1234567.89", "999,999.99": "999999.99",
    }),
    *_wrong(_POUNDS, *_ODD, *_COMMAS, "£", "£ 5", "£-5", "5£", "££5", "$5", "\u20ac2.50", "5%", "(5)", "GBP 5"),
    *_wrong(_PLACES.format(2), "12.505", "12.500", "1.000", "1,234.567", "0.001", "0.00010"),
]  # fmt: skip
_UNSIGNED_AMOUNTS = _wrong(_SIGN, "+5", "-5", "-£5.00", "-1,234.50")
SIGNED_AMOUNTS = [*AMOUNTS, *_right(**{"+5": "5", "-5": "-5", "-£5.00": "-5", "-1,234.50": "-1234.5"})]
AMOUNTS += _UNSIGNED_AMOUNTS

PERCENTAGES = [
    *_right(**{"0": "0", "12": "12", "12.5": "12.5", "12.5%": "12.5", " 7.25% ": "7.25", "100%": "100"}),
    *_wrong(_PERCENT, *_ODD, "12,5", "0,5", "12,50%", "£5", "%", "%5", "5%%", "5 %", "12.5pc"),
    *_wrong(_PLACES.format(2), "1.005", "12.500%", "33.3333", "1.000"),
    *_wrong(_SIGN, "+5", "-5", "-5%"),
]  # fmt: skip

COUNTS = [
    *_right(**{"1": "1", "12": "12", " 7 ": "7", "007": "7", "1,000": "1000", "12,345": "12345", "100,000": "100000"}),
    *_wrong(_COUNT, *_ODD, *_COMMAS, "1.0", "1.000", "1.5", "1.", "£1", "1%", "2 x", "1/2"),
]  # fmt: skip
UNSIGNED_COUNTS = [*COUNTS, *_wrong(_SIGN, "+5", "-5", "-1,000")]
SIGNED_COUNTS = [*COUNTS, *_right(**{"+5": "5", "-5": "-5", "-1,000": "-1000"})]

WEIGHTS = [
    *_right(**{"2": "2", "0.125": "0.125", ".5": "0.5", "1,234.567": "1234.567", "2.000": "2", "2.0000": "2"}),
    *_wrong(_WEIGHT, *_ODD, *_COMMAS, "2kg", "£2", "2%"),
    *_wrong(_PLACES.format(3), "0.1255", "1.23450"),
    *_wrong(_SIGN, "-2", "+2"),
]  # fmt: skip

# Amounts in JSON, where exponents and zeros at the end say nothing.
JSON_AMOUNTS = [
    *_right(**{"12": "12", "12.5": "12.5", "12.500": "12.5", "1e3": "1000", "1.25E1": "12.5", "0.01": "0.01"}),
    *_wrong(_PLACES.format(2), "12.505", "0.001"),
]  # fmt: skip


def expected(typed: Typed) -> Outcome:
    return typed.message if typed.number is None else typed.number


def wrong(table: Iterable[Typed]) -> list[Typed]:
    return [typed for typed in table if typed.number is None]


def right(table: Iterable[Typed]) -> list[Typed]:
    return [typed for typed in table if typed.number is not None]


def errors_on(response: httpx2.Response) -> dict[str, str]:
    """The errors of a page's form by field."""
    return {name: html.unescape(problem) for name, problem in _PROBLEM.findall(response.text)}


def said(response: httpx2.Response, field: str) -> str:
    """What is wrong with a form's field; fails if the form was taken or other fields are wrong."""
    assert response.status_code == 400, response.text
    found = errors_on(response)
    assert list(found) == [field], found
    return found[field]
