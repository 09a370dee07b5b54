"""Reads the rows of a table for a page: its filters, its order, its cursor, and what is wrong with them."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Generic, TypeVar

from tradecounter.edge.page_kit.forms import Filled, Submitted, query_values
from tradecounter.edge.page_kit.tables import Sort, TableParameters, read_cursor
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import STATUS
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.kit.local_time import at_uk_time

Wanted = TypeVar("Wanted", bound=TableParameters)
Row = TypeVar("Row")
After = tuple[Any, int] | None


@dataclass(frozen=True, slots=True)
class Listed(Generic[Wanted, Row]):
    """The parameters of a table, the form with its filters, its order and the rows that were found."""

    wanted: Wanted
    form: Filled
    sort: Sort
    rows: list[Row]

    @property
    def is_file(self) -> bool:
        """Whether the rows are wanted as a file, and the filters are valid."""
        return self.wanted.is_file and not self.form.message and not self.form.errors


async def listed(
    call: Call,
    shape: type[Wanted],
    sorts: Mapping[str, Any],
    default: str,
    find: Callable[[Wanted, Sort, After], Awaitable[list[Row]]],
) -> Listed[Wanted, Row]:
    """Return what `find` finds; with wrong filters, no rows and the errors.

    `sorts` are the columns to sort by, with the types of their values, `default` is the order without a choice.
    """
    form, wanted, rows = Filled(query_values(call.raw_query)), shape(), []
    sort = Sort.of(None, sorts, default)
    try:
        wanted = call.query(shape)
        sort = Sort.of(wanted.sort, sorts, default)
        rows = await find(wanted, sort, read_cursor(wanted.after, sorts[sort.column]))
    except DomainError as error:
        if error.kind not in {Kind.INVALID, Kind.NOT_FOUND}:
            raise
        form = Filled.of(Submitted(form.values), error, STATUS[error.kind])
    return Listed(wanted, form, sort, rows)


def day_of(field: str, text: str | None) -> date | None:
    """Return a day as a browser sends it. Raises DomainError (invalid)."""
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise invalid(field, f"{text[:40]!r} is not a day, such as 2026-06-01") from error


def start_of(field: str, text: str | None) -> datetime | None:
    """Return when a UK day begins. Raises DomainError (invalid)."""
    day = day_of(field, text)
    return None if day is None else at_uk_time(day, time())


def end_of(field: str, text: str | None) -> datetime | None:
    """Return when the day after a UK day begins. Raises DomainError (invalid)."""
    day = day_of(field, text)
    if day is None:
        return None
    if day == date.max:
        raise invalid(field, "is too late")
    return at_uk_time(day + timedelta(days=1), time())
