"""Printing results: one JSON document with `--json`, text for a person without."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tradecounter.rest.answers import to_json

LARGEST_ID = 2**63 - 1  # of PostgreSQL's bigint
_WIDE = 10_000

AsJson = Annotated[bool, typer.Option("--json", help="Print exactly one JSON document on standard output.")]


def show_json(value: Any) -> None:
    """Print a value as one JSON document, on one line."""
    sys.stdout.write(to_json(value).decode() + "\n")
    sys.stdout.flush()


def show(value: Any, text: str, *, as_json: bool) -> None:
    """Print a result, for a program or for a person."""
    if as_json:
        show_json(value)
    else:
        typer.echo(text)


def show_table(values: Iterable[Any], columns: Sequence[str], *, as_json: bool) -> None:
    """Print records, as a JSON array or as a table of some of their members."""
    records = _plain(list(values))
    if as_json:
        show_json(records)
        return
    table = Table(*columns, box=None, header_style="bold", pad_edge=False)
    for record in records:
        table.add_row(*(Text(_cell(record.get(column))) for column in columns))
    console = Console(width=None if sys.stdout.isatty() else _WIDE)  # nothing is cut off in a file or a pipe
    console.print(table if records else "nothing found")


def show_record(value: Any, *, as_json: bool) -> None:
    """Print one record, as a JSON object or as a line per member, and per member of its objects (`address.city`)."""
    record = _plain(value)
    if as_json:
        show_json(record)
        return
    record = dict(_flat(record))
    width = max(map(len, record), default=0)
    for name, member in record.items():
        typer.echo(f"{name:<{width}}  {_cell(member)}")


def _flat(record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, member in record.items():
        if isinstance(member, dict) and member:
            yield from ((f"{name}.{inner}", value) for inner, value in _flat(member) if value is not None)
        else:
            yield name, member


def _plain(value: Any) -> Any:
    return json.loads(to_json(value), parse_float=Decimal)  # amounts keep their places


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)
    return one_line(text)


def one_line(text: str) -> str:
    """Return text as it can be printed: what customers typed must not command the operator's terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
