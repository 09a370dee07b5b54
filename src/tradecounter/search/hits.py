"""What searches find, and how people write what they look for."""

import re
from dataclasses import dataclass
from decimal import Decimal

from tradecounter.kit.money import in_pounds
from tradecounter.kit.numbers import UnreadableNumberError, read_pounds
from tradecounter.orders.queries.order_table import OrderRow

MOST_OF_A_GROUP = 10
LONGEST = 200

_INVOICE = re.compile(r"(?:inv|invoice)?[\s#:-]*([1-9][0-9]{0,17})", re.IGNORECASE)
_AMOUNT = re.compile(r"£? ?[0-9][0-9,]*\.[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that was found. `exact` means that the text names it, and is not only a part of its name."""

    name: str
    note: str
    path: str
    exact: bool
    state: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Hits of one kind; `operation` is the path of the page that shows one, `note` says how the text was read."""

    title: str
    operation: str
    hits: list[Hit]
    note: str = ""


def order_name(row: OrderRow) -> str:
    """Return how an order or a quote is called in a list of hits."""
    return row.name if row.status else f"{row.name[:8]}…"


def joined(*parts: str) -> str:
    """Return the parts of a note that are not empty."""
    return " · ".join(part for part in parts if part)


def invoice_number(text: str) -> int | None:
    """Return the number of the invoice that a text names, or None."""
    named = _INVOICE.fullmatch(text)
    return None if named is None else int(named[1])


def typed_amount(text: str) -> Decimal | None:
    """Return the amount of pounds and pence that a text is, or None."""
    if not _AMOUNT.fullmatch(text):
        return None
    try:
        return read_pounds(text.lstrip("£ "))
    except UnreadableNumberError:
        return None


def total(row: OrderRow) -> str:
    """Return the total of an order."""
    return in_pounds(row.gross)
