"""Prints results: one JSON document with `--json`, otherwise text."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, Any

import typer

from tradecounter.edge.command_line.tables import Column, cell, print_table
from tradecounter.kit.json_text import to_json

Parts = Mapping[str, tuple[str, Sequence[Column]]]
AsJson = Annotated[bool, typer.Option("--json", help="Print exactly one JSON document on standard output.")]


def show_json(value: Any) -> None:
    """Print a value as one JSON document on one line."""
    sys.stdout.write(to_json(value).decode() + "\n")
    sys.stdout.flush()


def show(value: Any, text: str, *, as_json: bool) -> None:
    """Print a result as JSON or as text."""
    if as_json:
        show_json(value)
    else:
        typer.echo(text)


LISTED = 1000  # records of a list, unless --limit says otherwise


def show_table(
    values: Iterable[Any],
    columns: Sequence[Column],
    *,
    as_json: bool,
    names: str | None = None,
    limit: int | None = None,
) -> None:
    """Print records as a JSON array or as a table; `names` are the columns that the operator chose.

    Warns if the list ends at the `limit` that a command has by itself: nobody asked for a part.
    """
    records = _plain(list(values))
    if len(records) == limit == LISTED:
        typer.echo(f"the list ends after {limit} records; if there are more, --limit lists them", err=True)
    if as_json:
        show_json(records)
    else:
        print_table(records, columns, names, hint="Widen the terminal or use --columns to see them.")


def show_record(value: Any, *, as_json: bool, parts: Parts = MappingProxyType({})) -> None:
    """Print one record: a JSON object, or a line per member, including nested members (`address.city`).

    `parts` has the titles and columns of members that are printed as tables below the lines.
    """
    if as_json:
        show_json(value)
        return
    record = _plain(value)
    lines = dict(_flat({name: member for name, member in record.items() if name not in parts}))
    width = max(map(len, lines), default=0)
    for name, member in lines.items():
        typer.echo(f"{name:<{width}}  {cell(member)}")
    for name, (title, columns) in parts.items():
        show_part(title, record[name], columns)


def show_part(title: str, values: Iterable[Any], columns: Sequence[Column]) -> None:
    """Print a record's part as a table with a title; prints nothing for an empty part."""
    records = _plain(list(values))
    if records:
        typer.echo(f"\n{title}")
        print_table(records, columns, hint="Widen the terminal to see them.")


def _flat(record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, member in record.items():
        if isinstance(member, dict) and member:
            yield from ((f"{name}.{inner}", value) for inner, value in _flat(member) if value is not None)
        else:
            yield name, member


def _plain(value: Any) -> Any:
    return json.loads(to_json(value), parse_float=Decimal)  # amounts keep their decimal places
