"""Arguments and options shared by several commands."""

import re
import sys
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from tradecounter.edge.command_line.session import fail
from tradecounter.kit.clock import at_uk_time, day_begins, day_ends, no_such_day
from tradecounter.kit.numbers import UnreadableNumberError, read_count, read_id, read_pounds

Number = TypeVar("Number")

_ELEMENT = re.compile(r"(?P<list>\w+)\[(?P<number>\d+)\]")

LARGEST_ID = 2**63 - 1  # the largest bigint of PostgreSQL
LARGEST_METHOD = 2**31 - 1  # of a shipping method


def IdOf(metavar: str, meaning: str) -> Any:  # noqa: N802 it stands where a class of typer stands
    """Return an argument that is the id or the number of a record."""
    return typer.Argument(min=1, max=LARGEST_ID, metavar=metavar, help=meaning)


def OptionalId(name: str, metavar: str, meaning: str, *, largest: int = LARGEST_ID) -> Any:  # noqa: N802 as above
    """Return an option that is the id or the number of a record."""
    return typer.Option(name, min=1, max=largest, metavar=metavar, help=meaning, show_default=False)


CustomerId = Annotated[int, IdOf("CUSTOMER_ID", "The customer's id, from `customer list`.")]
Customer = Annotated[int | None, OptionalId("--customer", "ID", "Only this customer's.")]
OrderName = Annotated[
    str,
    typer.Argument(metavar="ORDER", help="The order's reference, id or confirmation code, or the code's beginning."),
]
Sku = Annotated[str, typer.Argument(metavar="SKU", help="The product's SKU, in upper or lower case.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the result; change nothing.")]
Limit = Annotated[int, typer.Option(min=1, max=100_000, metavar="N", help="The maximum number of records to list.")]


def number(read: Callable[[str], Number], text: str) -> Number:
    """Return the number in a text, as a reader of `kit/numbers.py` reads it. Raises BadParameter."""
    try:
        return read(text)
    except UnreadableNumberError as error:
        raise typer.BadParameter(str(error)) from error


def one_of(words: Sequence[str]) -> Callable[[str], str]:
    """Return a parser that accepts only these words. It raises BadParameter for any other."""

    def parse(text: str) -> str:
        if text not in words:
            raise typer.BadParameter(f"{text!r} is not one of: {', '.join(words)}")
        return text

    return parse


def InState(records: str, states: Sequence[str]) -> Any:  # noqa: N802 it stands where a class of typer stands
    """Return the option that lists only the records in a state."""
    meaning = f"Only {records} in this state: {', '.join(states)}."
    return typer.Option("--state", parser=one_of(states), metavar="S", help=meaning)


def pounds(text: str) -> Decimal:
    """Parse an amount. Raises BadParameter."""
    return number(read_pounds, text)


def item_units(text: str) -> dict[str, int]:
    """Return the fields of a line's units, from ITEM_ID=QUANTITY. Raises BadParameter."""
    item_id, quantity = numbered(text, "ITEM_ID=QUANTITY", read_count)
    return {"id": item_id, "quantity": quantity}


def each_once(option: str, items: Sequence[dict[str, Any]] | None, field: str) -> dict[int, Any]:
    """Return a field of an option's items, by their ids. Raises BadParameter for an id that is named twice."""
    values: dict[int, Any] = {}
    for item in items or ():
        if item["id"] in values:
            raise typer.BadParameter(f"{option} {item['id']} is named twice")
        values[item["id"]] = item[field]
    return values


def called(**lists: Sequence[str]) -> Callable[[str], str]:
    """Return the function for `named_by` that names the elements of lists, which a command makes of several options.

    `lists` has a name for each element, such as `item 17`. `reporting_errors` names everything else.
    """

    def name(place: str) -> str:
        match = _ELEMENT.fullmatch(place.partition(".")[0])
        names = lists.get(match["list"], ()) if match else ()
        return names[int(match["number"])] if match and int(match["number"]) < len(names) else place

    return name


def named_number(text: str, form: str, read: Callable[[str], Number]) -> tuple[str, Number]:
    """Return the name and the number in a text of the form NAME=NUMBER. Raises BadParameter."""
    name, equals, found = text.rpartition("=")  # a SKU may contain an equals sign, a number cannot
    if not equals or not name:
        raise typer.BadParameter(f"{text!r} is not {form}")
    try:
        return name, read(found)
    except UnreadableNumberError as error:
        raise typer.BadParameter(f"{text!r}: {error}") from error


def numbered(text: str, form: str, read: Callable[[str], Number]) -> tuple[int, Number]:
    """Return the id and the number in a text of the form ID=NUMBER. Raises BadParameter."""
    name, found = named_number(text, form, read)
    item_id = read_id(name)
    if item_id is None:
        raise typer.BadParameter(f"{text!r} is not {form}")
    return item_id, found


def since(text: str) -> datetime:
    """Return the start of a day, or a UK time. Raises BadParameter."""
    day = _day(text)
    return _moment(text) if day is None else day_begins(day)


def until(text: str) -> datetime:
    """Return the end of a day, or of the second of a UK time. Raises BadParameter."""
    day = _day(text)
    try:
        return _moment(text) + timedelta(seconds=1) if day is None else day_ends(day)
    except OverflowError as error:
        raise typer.BadParameter(f"{text!r} is the end of the calendar") from error


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        why = no_such_day(text) or f"{text!r} is neither a date (2026-06-01) nor a UK time (2026-06-01T09:30)"
        raise typer.BadParameter(why) from error
    return at_uk_time(moment.date(), moment.time()) if moment.tzinfo is None else moment


Since = Annotated[
    datetime | None,
    typer.Option(
        "--from", parser=since, metavar="D", help="From this date or UK time: 2026-06-01 or 2026-06-01T09:30."
    ),
]
Until = Annotated[
    datetime | None, typer.Option("--to", parser=until, metavar="D", help="Up to and including this date or time.")
]

Reason = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="The reason, for the customer and the audit log.")
]


def read_day(text: str) -> date:
    """Parse a date. Raises BadParameter."""
    day = _day(text)
    if day is None:
        raise typer.BadParameter(f"{text!r} is not a date, such as 2026-06-01")
    return day


def Day(name: str, meaning: str) -> Any:  # noqa: N802 it stands where a class of typer stands
    """Return an option that is a date."""
    return typer.Option(name, parser=read_day, metavar="D", help=meaning, show_default=False)


def read_bytes(name: str) -> bytes:
    """Return a file's content; - is standard input. Ends the command if the file cannot be read."""
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        fail(f"{name} cannot be read: {error.strerror}")
