"""Makes a command that lists records from the function that reads them."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any

from tradecounter.edge.command_line.output import LISTED, AsJson, Column, ColumnNames, show_table
from tradecounter.edge.command_line.session import fail, run_query

ReadRecords = Callable[..., Awaitable[Iterable[Any]]]
_OUTPUT = (
    Parameter("columns", Parameter.KEYWORD_ONLY, default=None, annotation=ColumnNames),
    Parameter("as_json", Parameter.KEYWORD_ONLY, default=False, annotation=AsJson),
)


def lists_records(
    table: Sequence[Column], *, in_table: Callable[[Any], Any] | None = None
) -> Callable[[ReadRecords], Callable[..., None]]:
    """Make a function that reads records a command that lists them, with the options `--columns` and `--json`.

    The function takes a transaction, and the command's own options. `table` has the columns; `in_table` returns a
    record as the table has it, where that differs from the JSON. If the command lists LISTED records unless a `--limit`
    says otherwise, it warns when there may be more.
    """

    def decorate(read: ReadRecords) -> Callable[..., None]:
        own = list(signature(read).parameters.values())[1:]
        warns = any(option.name == "limit" and option.default == LISTED for option in own)

        @wraps(read)
        def run(*, columns: str | None, as_json: bool, **options: Any) -> None:
            since, until = options.get("since"), options.get("until")
            # If it has a time, `until` is the first moment after the period.
            if since and until and (since > until or (since == until and isinstance(until, datetime))):
                fail("--from: must not be after --to")
            records = run_query(lambda tx: read(tx, **options))
            shown = records if as_json or in_table is None else map(in_table, records)
            limit = options["limit"] if warns else None
            show_table(shown, table, as_json=as_json, names=columns, limit=limit)

        parameters = [*(option.replace(kind=Parameter.KEYWORD_ONLY) for option in own), *_OUTPUT]
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # Typer reads it
        return run

    return decorate
