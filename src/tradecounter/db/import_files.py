"""Reading import files: JSON Lines, a JSON array, or CSV, told apart by the file's name; rows come one by one.

A row is handed on with the number of the line on which it starts (in a JSON array: the number of the element).
"""

import csv
import io
import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, get_origin

import msgspec
from msgspec import UNSET, Raw

from tradecounter.kit.errors import OperatorError
from tradecounter.rest.annotations import alternatives
from tradecounter.rest.problems import readable

Shape = TypeVar("Shape", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be taken, and why."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Row(Generic[Shape]):
    """A well-formed row."""

    line: int
    values: Shape


class UnreadableFileError(OperatorError):
    """The file as a whole cannot be read; the message says why."""


def read_rows(path: str, shape: type[Shape]) -> Iterator[Row[Shape] | BadRow]:
    """Yield a file's rows; `-` is standard input, whose first character tells JSON Lines, a JSON array and CSV apart.

    Raises UnreadableFileError.
    """
    try:
        if path == "-":
            lines = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="")
            start = _up_to_text(lines)
            yield from _parse(_kind_of("".join(start)), itertools.chain(start, lines), shape)
        else:
            with Path(path).open(encoding="utf-8-sig", newline="") as lines:
                yield from _parse(path, lines, shape)
    except OSError as error:
        raise UnreadableFileError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnreadableFileError(f"{path}: not UTF-8 text") from error


def _up_to_text(lines: Iterator[str]) -> list[str]:
    read = []
    for line in lines:
        read.append(line)
        if line.strip():
            break
    return read


def _kind_of(start: str) -> str:
    return {"{": "standard input.jsonl", "[": "standard input.json"}.get(start.lstrip()[:1], "standard input.csv")


def _parse(name: str, lines: Iterator[str], shape: type[Shape]) -> Iterator[Row[Shape] | BadRow]:
    match Path(name).suffix.lower():
        case ".csv":
            return _parse_csv(lines, shape)
        case ".json":
            return _parse_array("".join(lines), shape)
        case ".jsonl" | ".ndjson":
            return _parse_json_lines(lines, shape)
        case suffix:
            raise UnreadableFileError(f"{name}: {suffix or 'no suffix'} is not .jsonl, .json or .csv")


def _parse_json_lines(lines: Iterator[str], shape: type[Shape]) -> Iterator[Row[Shape] | BadRow]:
    for number, text in enumerate(lines, start=1):
        if text.strip():
            yield _decoded(number, text, shape)


def _parse_array(text: str, shape: type[Shape]) -> Iterator[Row[Shape] | BadRow]:
    try:
        elements = msgspec.json.decode(text, type=list[Raw])
    except msgspec.DecodeError as error:
        raise UnreadableFileError(f"not a JSON array: {error}") from error
    except RecursionError as error:
        raise UnreadableFileError("not a JSON array: nested too deeply") from error
    for number, element in enumerate(elements, start=1):
        yield _decoded(number, bytes(element), shape)


def _decoded(number: int, text: str | bytes, shape: type[Shape]) -> Row[Shape] | BadRow:
    try:
        return Row(number, msgspec.json.decode(text, type=shape))
    except msgspec.ValidationError as error:
        return BadRow(number, _readable(error))
    except msgspec.DecodeError as error:
        return BadRow(number, f"not a JSON object: {error}")
    except RecursionError:
        return BadRow(number, "not a JSON object: nested too deeply")


def _parse_csv(lines: Iterator[str], shape: type[Shape]) -> Iterator[Row[Shape] | BadRow]:
    reader = csv.reader(lines, strict=True)
    start = 1
    try:
        header = next((cells for cells in reader if cells), [])
        types = {field.encode_name: field.type for field in msgspec.structs.fields(shape)}
        problem = _header_problem(header, types)
        if problem is not None:
            yield BadRow(start, problem)
            return
        start = reader.line_num + 1
        for cells in reader:
            if cells:
                yield _converted(start, header, cells, types, shape)
            start = reader.line_num + 1
    except csv.Error as error:
        yield BadRow(start, f"not CSV: {error}")


def _header_problem(header: list[str], types: dict[str, Any]) -> str | None:
    if not header:
        return "the file is empty: a CSV file starts with a line of column names"
    for number, name in enumerate(header):
        if name not in types:
            return f"column {name!r} is not one of {', '.join(types)}"
        if name in header[:number]:
            return f"column {name!r} is there twice"
    return None


def _converted(
    number: int, header: list[str], cells: list[str], types: dict[str, Any], shape: type[Shape]
) -> Row[Shape] | BadRow:
    if len(cells) != len(header):
        return BadRow(number, f"has {len(cells)} cells where the header has {len(header)}")
    values: dict[str, Any] = {}
    for name, cell in zip(header, cells, strict=True):
        try:
            value = _cell_value(cell, types[name])
        except (msgspec.DecodeError, RecursionError) as error:
            return BadRow(number, f"{name}: not JSON text: {error}")
        if value is not UNSET:
            values[name] = value
    try:
        return Row(number, msgspec.convert(values, shape, strict=False))
    except msgspec.ValidationError as error:
        return BadRow(number, _readable(error).removesuffix(", not text"))  # all cells are text


def _readable(error: msgspec.ValidationError) -> str:
    problem = readable(error)
    return f"the row {rest}" if (rest := problem.removeprefix("the body ")) != problem else problem


def _cell_value(cell: str, annotation: Any) -> Any:
    """Return what a cell stands for: nested values are JSON text; an empty cell is null, empty text, or absent."""
    options = alternatives(annotation)
    if cell == "":
        if type(None) in options:
            return None
        return "" if str in options else UNSET
    if any(get_origin(option) in {list, dict, tuple} for option in options):
        return msgspec.json.decode(cell)
    return cell
