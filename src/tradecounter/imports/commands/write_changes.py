"""Writes the changes of an import to a file or to standard output."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TextIO

from tradecounter.bulk.differences import Change, OnChange
from tradecounter.edge.command_line.output import one_line
from tradecounter.kit.csv_text import cell_of, line
from tradecounter.kit.errors import OperatorError
from tradecounter.kit.json_text import to_json
from tradecounter.kit.private_folder import private_file

Write = Callable[[Change], None]


@contextmanager
def changes_to(path: str | None, *, wanted: bool) -> Iterator[OnChange | None]:
    """Yield a function that writes changes to a file or to standard output. If not `wanted`, yield None.

    Standard output gets them at the end of the block: a reader that waits, such as `less`, holds up no transaction.
    """
    if not wanted:
        yield None
    elif path is None:
        with TemporaryFile("w+", encoding="utf-8") as file:
            yield _as_text(file)
            file.seek(0)
            shutil.copyfileobj(file, sys.stdout)
    else:
        with _created(path) as file:
            writers = {".csv": _as_csv, ".jsonl": _as_json_lines, ".ndjson": _as_json_lines}
            yield writers.get(Path(path).suffix.lower(), _as_text)(file)


def _created(path: str) -> TextIO:
    try:
        return open(path, "w", encoding="utf-8", newline="", opener=private_file)
    except OSError as error:
        raise OperatorError(f"{path}: {error.strerror}") from error


def _as_json_lines(file: TextIO) -> Write:
    return lambda change: print(to_json(change).decode(), file=file)


def _as_csv(file: TextIO) -> Write:
    file.write(line(("line", "key", "change", "field", "before", "after")))

    def write(change: Change) -> None:
        before, after = change.before or {}, change.after or {}
        for name in after or before:
            cells = (change.line, change.key, change.change, name, _cell(before.get(name)), _cell(after.get(name)))
            file.write(line(map(cell_of, cells)))

    return write


def _as_text(file: TextIO) -> Write:
    def write(change: Change) -> None:
        where = "not in the file" if change.line is None else f"line {change.line}"
        print(one_line(f"{where}: {change.key} {change.change}{_members(change)}"), file=file)

    return write


def _members(change: Change) -> str:
    if change.before is None or change.after is None:
        return ""
    pairs = ((name, change.before[name], value) for name, value in change.after.items())
    percent = f" ({change.percent:+} %)" if isinstance(change.percent, Decimal) else ""
    return (
        ": "
        + ", ".join(f"{name} {_json_text(before)} -> {_json_text(after)}" for name, before, after in pairs)
        + percent
    )


def _json_text(value: Any) -> str:
    return to_json(value).decode()


def _cell(value: Any) -> Any:
    return _json_text(value) if isinstance(value, bool | list | dict) else value
