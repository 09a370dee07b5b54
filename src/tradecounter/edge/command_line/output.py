"""Prints results: one JSON document with `--json`, otherwise text and tables, whose values are never truncated."""

import json
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import Struct

from tradecounter.kit.json_text import to_json

if TYPE_CHECKING:
    from rich.console import Console


_MOMENT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})\.[0-9]+Z")  # in UTC, with a fraction


def cell(value: Any) -> str:
    """Return a record's value on one line; a missing value is a dash."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        return one_line(", ".join(map(str, value))) or "-"
    text = to_json(value).decode() if isinstance(value, dict | list) else str(value)
    moment = _MOMENT.fullmatch(text)
    return one_line(text if moment is None else f"{moment[1]}Z") or "-"


def one_line(text: str) -> str:
    """Return a string without control characters: customers' input must not control the operator's terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


_WIDE = 10_000  # characters; the width for a file or a pipe
_GAP = 2

ColumnNames = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="NAMES",
        help="The columns to show: comma-separated names of the JSON members. Default: as many as fit.",
    ),
]


def _console(*, stderr: bool = False) -> "Console":
    from rich.console import Console  # noqa: PLC0415 processes that print no table start without

    return Console(stderr=stderr)


def _cells(text: str) -> int:
    """Return the width of a text in terminal cells; letters of some scripts take two."""
    from rich.cells import cell_len  # noqa: PLC0415

    return cell_len(text)


class Prose(Struct, frozen=True):
    """A column whose values may be wrapped, at least `width` characters wide."""

    name: str
    width: int = 16


Column = str | Prose


class _Layout(Struct, frozen=True):
    """A column with its cells, its minimum width, and its natural width, at which no cell is wrapped."""

    name: str
    title: str
    cells: list[str]
    least: int
    natural: int
    is_amount: bool
    is_empty: bool


def print_table(
    records: Sequence[dict[str, Any]], columns: Sequence[Column], names: str | None = None, *, hint: str
) -> None:
    """Print records with the columns in `names`, or else with the first of `columns`, as many as fit.

    In a file or a pipe, all columns fit. `hint` says how to see hidden columns. Raises BadParameter for unknown names.
    """
    if not records:
        typer.echo("nothing found")
        return
    on_terminal = sys.stdout.isatty()
    room = _console().width if on_terminal else _WIDE
    wanted = _chosen_columns(names, columns, records) if names else columns
    layouts = [_layout(column, records, in_words=on_terminal) for column in wanted]
    shown = layouts if names else _fitting(layouts, room)
    widths = _widths(shown, room)
    lines = max(column.title.count("\n") for column in shown)
    titles = ["\n" * (lines - column.title.count("\n")) + column.title for column in shown]  # aligned at the bottom
    heading = _row(titles, shown, widths)
    typer.echo(typer.style(heading, bold=True) if on_terminal else heading)
    for values in zip(*(column.cells for column in shown), strict=True):
        typer.echo(_row(values, shown, widths))
    if hidden := [column.name for column in layouts if column not in shown]:
        _console(stderr=True).print(f"Not shown: {', '.join(hidden)}. {hint}", style="dim", highlight=False)


def _chosen_columns(names: str, columns: Sequence[Column], records: Sequence[dict[str, Any]]) -> list[Column]:
    known: dict[str, Column] = {name: name for record in records for name in record}
    known |= {column.name: column for column in columns if isinstance(column, Prose)}
    chosen = [name.strip().replace("-", "_") for name in names.split(",") if name.strip()]
    if unknown := [name for name in chosen if name not in known]:
        raise typer.BadParameter(f"--columns: unknown: {', '.join(unknown)}; known: {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(chosen)]


def _layout(column: Column, records: Sequence[dict[str, Any]], *, in_words: bool) -> _Layout:
    """Return a column with its cells. With `in_words`, its title is its name as words, wrapped to the cells' width."""
    name = column.name if isinstance(column, Prose) else column
    values = [record.get(name) for record in records]
    cells = [cell(value) for value in values]
    natural = max(map(_cells, (*cells, *(name.split("_") if in_words else [name]))))
    given = [value for value in values if value is not None]
    return _Layout(
        name,
        textwrap.fill(name.replace("_", " "), natural) if in_words else name,
        cells,
        least=min(natural, column.width) if isinstance(column, Prose) else natural,
        natural=natural,
        is_amount=bool(given) and all(isinstance(value, Decimal) for value in given),
        is_empty=not given,
    )


def _fitting(columns: Sequence[_Layout], width: int) -> list[_Layout]:
    """Return the columns that fit; empty columns are dropped first, then the last columns."""
    layouts: list[_Layout] = []
    for column in sorted(columns, key=lambda column: column.is_empty):
        if not layouts or sum(c.least + _GAP for c in (*layouts, column)) <= width + _GAP:
            layouts.append(column)
    return [column for column in columns if column in layouts]


def _row(values: Sequence[str], columns: Sequence[_Layout], widths: Sequence[int]) -> str:
    """Return a row's lines; values may be wrapped."""
    cells = [_wrapped(value, width) for value, width in zip(values, widths, strict=True)]
    lines = []
    for pieces in zip_longest(*cells, fillvalue=""):
        padded = [
            f"{' ' * (width - _cells(piece))}{piece}" if column.is_amount else piece + " " * (width - _cells(piece))
            for piece, column, width in zip(pieces, columns, widths, strict=True)
        ]
        lines.append((" " * _GAP).join(padded).rstrip())
    return "\n".join(lines)


def _wrapped(value: str, width: int) -> list[str]:
    """Wrap a value to a width in terminal cells."""
    from rich.text import Text  # noqa: PLC0415

    if "\n" in value:  # a column's title
        return value.split("\n")
    if _cells(value) <= width:
        return [value]
    return [line.plain.rstrip() for line in Text(value).wrap(_console(), width, overflow="fold")]


def _widths(columns: Sequence[_Layout], width: int) -> list[int]:
    """Return the columns' widths; columns below their natural width share the remaining width."""
    room = max(width - sum(column.least + _GAP for column in columns) + _GAP, 0)
    wanted = sum(column.natural - column.least for column in columns)
    share = Fraction(min(room, wanted), wanted or 1)
    return [column.least + int((column.natural - column.least) * share) for column in columns]


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

    Warns if a list ends at a `limit` that the operator did not ask for.
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
