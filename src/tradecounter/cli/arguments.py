"""Arguments and options shared by several commands."""

import re
import sys
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any

import typer

from tradecounter.cli.session import fail
from tradecounter.kit.local_time import at_uk_time

LARGEST_ID = 2**63 - 1  # the largest bigint of PostgreSQL

CustomerId = Annotated[
    int, typer.Argument(min=1, max=LARGEST_ID, metavar="CUSTOMER_ID", help="The customer's id, from `customer list`.")
]
Customer = Annotated[
    int | None,
    typer.Option("--customer", min=1, max=LARGEST_ID, metavar="ID", help="Only this customer's.", show_default=False),
]
OrderName = Annotated[str, typer.Argument(metavar="ORDER", help="The order's reference or id.")]
Sku = Annotated[str, typer.Argument(metavar="SKU", help="The product's SKU, in upper or lower case.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the result; change nothing.")]
Limit = Annotated[int, typer.Option(min=1, max=100_000, metavar="N", help="The maximum number of records to list.")]


_UNITS = re.compile(r"([0-9]{1,18})=(-?[0-9]{1,18})")


def item_units(texts: list[str] | None, option: str = "--item") -> list[tuple[int, int]]:
    """Return pairs of item id and quantity from the values of an option. Raises BadParameter."""
    found = [_UNITS.fullmatch(text) for text in texts or ()]
    for text, match in zip(texts or (), found, strict=True):
        if match is None:
            raise typer.BadParameter(f"{option} {text!r} is not ITEM_ID=QUANTITY")
    return [(int(match[1]), int(match[2])) for match in found if match is not None]


def named_amount(text: str, form: str) -> tuple[str, Decimal]:
    """Return the name and the amount in an option of the form NAME=AMOUNT. Raises BadParameter."""
    name, equals, cost = text.rpartition("=")  # a SKU may contain an equals sign, a cost cannot
    if not equals or not name:
        raise typer.BadParameter(f"{text!r} is not {form}")
    try:
        return name, Decimal(cost)
    except InvalidOperation as error:
        raise typer.BadParameter(f"{cost!r} is not a number") from error


def _since(text: str) -> datetime:
    day = _day(text)
    return _moment(text) if day is None else at_uk_time(day, time())


def until(text: str) -> datetime:
    """Return the end of a day, or of the second of a UK time. Raises BadParameter."""
    day = _day(text)
    try:
        return _moment(text) + timedelta(seconds=1) if day is None else at_uk_time(day + timedelta(days=1), time())
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
        raise typer.BadParameter(f"{text!r} is neither a date (2026-06-01) nor a UK time (2026-06-01T09:30)") from error
    return at_uk_time(moment.date(), moment.time()) if moment.tzinfo is None else moment


Since = Annotated[
    datetime | None,
    typer.Option(
        "--from", parser=_since, metavar="D", help="From this date or UK time: 2026-06-01 or 2026-06-01T09:30."
    ),
]
Until = Annotated[
    datetime | None, typer.Option("--to", parser=until, metavar="D", help="Up to and including this date or time.")
]

Reason = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="The reason, for the customer and the audit log.")
]


def Day(name: str, meaning: str) -> Any:  # noqa: N802 it stands where a class of typer stands
    """Return an option that is a date."""

    def parse(text: str) -> date:
        found = _day(text)
        if found is None:
            raise typer.BadParameter(f"{text!r} is not a date, such as 2026-06-01")
        return found

    return typer.Option(name, parser=parse, metavar="D", help=meaning, show_default=False)


def read_bytes(name: str) -> bytes:
    """Return a file's content; - is standard input. Ends the command if the file cannot be read."""
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        fail(f"{name} cannot be read: {error.strerror}")
