"""Leaves the bad rows of a partial import out, until the others pass all checks without them."""

from collections.abc import Awaitable, Callable

from tradecounter.bulk.rows import LineMessage
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind

_MOST_ROUNDS = 20

_LEAVE_OUT = Statement("delete from staged where key is null or line = any(:lines::integer[])")
_COUNT = Statement("select count(*) from staged")


async def leave_out_bad_rows(
    tx: Transaction, errors: list[LineMessage], check: Callable[[], Awaitable[None]]
) -> tuple[int, int]:
    """Delete staged rows with errors; `check` adds the errors of those that remain.

    A row may need another one of the file, so the rows are checked again after each deletion. Returns how many staged
    rows remain, and how many lines of the file are left out. Raises DomainError (invalid): too many rows follow from
    each other.
    """
    for _ in range(_MOST_ROUNDS):
        await tx.execute(_LEAVE_OUT, lines=[error.line for error in errors if error.line is not None])
        known = len(errors)
        await check()
        if len(errors) == known:
            return int(await tx.fetch_value(_COUNT)), len({error.line for error in errors})
    raise DomainError(Kind.INVALID, "too many rows need others with errors: correct these first")
