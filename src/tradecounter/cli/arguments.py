"""Arguments and options shared by several commands."""

import sys
from datetime import date, datetime, time, timedelta
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
Limit = Annotated[int, typer.Option(min=1, max=100_000, metavar="N", help="The maximum number of records to list.")]


def _since(text: str) -> datetime:
    day = _day(text)
    return _moment(text) if day is None else at_uk_time(day, time())


def _until(text: str) -> datetime:
    day = _day(text)
    return _moment(text) + timedelta(seconds=1) if day is None else at_uk_time(day + timedelta(days=1), time())


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
    datetime | None, typer.Option("--to", parser=_until, metavar="D", help="Up to and including this date or time.")
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
