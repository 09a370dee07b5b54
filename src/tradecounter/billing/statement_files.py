"""Statements as files, and the days that a request names for them."""

import asyncio
from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.billing.account_statement import AccountStatement, print_statement, statement_csv
from tradecounter.edge.rest.days import Day, day_of
from tradecounter.edge.rest.negotiation import CSV, PDF
from tradecounter.edge.rest.responses import file_response
from tradecounter.kit.clock import uk_date
from tradecounter.letterhead.seller import Letterhead

_DAYS = 365


class StatementPeriod(Struct, frozen=True, kw_only=True, rename={"since": "from", "until": "to"}):
    """The days of a statement, both included."""

    since: Annotated[
        Day | None, Meta(description="The first day; by default that of the first entry.", examples=["2026-01-01"])
    ] = None
    until: Annotated[
        Day | None, Meta(description="The last day, today by default; ageing is as of it.", examples=["2099-12-31"])
    ] = None


def statement_days(wanted: StatementPeriod) -> tuple[date | None, date | None]:
    """Return the first and the last day of a statement, None for a missing one. Raises DomainError (invalid)."""
    return day_of("from", wanted.since), day_of("to", wanted.until)


def recent_days(wanted: StatementPeriod, now: datetime) -> tuple[date, date]:
    """Return the days as `statement_days`, on pages and in e-mails: without a first one, the last twelve months.

    With years of entries, nobody reads more.
    """
    since, until = statement_days(wanted)
    until = until or uk_date(now)
    return since or date.fromordinal(max(until.toordinal() - _DAYS, 1)), until


async def statement_file(
    statement: AccountStatement,
    file_format: Literal["csv", "pdf"],
    customer: str,
    letterhead: Callable[[], Letterhead],
    now: datetime,
) -> Response:
    """Respond with a statement as a file; `customer` is the customer's name. `letterhead` is called in a thread."""
    name = f"statement-{statement.customer_id}-{statement.until}"
    if file_format == "csv":
        return file_response(statement_csv(statement).encode(), f"{name}.csv", CSV)
    pdf = await asyncio.to_thread(lambda: print_statement(statement, customer, letterhead(), now))
    return file_response(pdf, f"{name}.pdf", PDF)
