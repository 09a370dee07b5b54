"""Importing files as the command line does, and looking at what the database then holds."""

import asyncio
import csv
import hashlib
import io
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg.sql import SQL, Identifier

from tradecounter.bulk.files import open_import
from tradecounter.bulk.import_options import ImportOptions, ImportReport
from tradecounter.bulk.tables import ColumnOptions
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.imports.kinds import IMPORT_KINDS
from tradecounter.imports.run import import_and_commit
from tradecounter.kit.clock import SystemClock

Record = Mapping[str, Any]
Result = TypeVar("Result")


def as_json_lines(rows: Sequence[Record]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def as_json_array(rows: Sequence[Record]) -> str:
    return json.dumps(rows, indent=1)


def as_csv(rows: Sequence[Record]) -> str:
    """Rows as CSV; what a row lacks is an empty cell."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows([_cell(row.get(name)) for name in columns] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


WRITERS = {".jsonl": as_json_lines, ".json": as_json_array, ".csv": as_csv}


def counts(report: ImportReport) -> tuple[int, int, int, int]:
    """What a report says was added, changed, left unchanged and deactivated."""
    assert not report.errors, report.errors
    return report.added, report.changed, report.unchanged, report.deactivated


@dataclass(frozen=True)
class Importer:
    url: str
    folder: Path

    def load(self, kind: str, rows: Sequence[Record], form: str = ".jsonl", **options: Any) -> ImportReport:
        """Import rows, written to a file of a form."""
        return self.load_text(kind, WRITERS[form](rows), form, **options)

    def load_text(self, kind: str, text: str | bytes, form: str = ".csv", **options: Any) -> ImportReport:
        """Import a file with exactly this content."""
        path = self.folder / f"{kind}{form}"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return self.load_path(kind, str(path), **options)

    def load_path(
        self,
        kind: str,
        path: str,
        *,
        columns: ColumnOptions | None = None,
        on_hand: bool = False,
        confirmed: bool = True,
        force: bool = True,
        **options: Any,
    ) -> ImportReport:
        """Import a file that is there, or not."""

        async def run() -> ImportReport:
            async with Database(self.url, connections=1) as database:
                with open_import(path) as file:
                    rows = file.rows(IMPORT_KINDS[kind].shape, columns)
                    wanted = ImportOptions(confirmed=confirmed, force=force, **options)
                    report = await import_and_commit(
                        database, kind, rows, wanted, now=SystemClock().now(), on_hand=on_hand
                    )
                    report.file = file.facts
                    return report

        return asyncio.run(run())

    def query(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url) as connection:
            return connection.execute(statement.encode(), values).fetchall()

    def change(self, statement: str) -> None:
        with psycopg.connect(self.url) as connection:
            connection.execute(statement.encode())

    def change_by(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        """Run a use case in a transaction of its own."""

        async def run() -> Result:
            async with Database(self.url, connections=1) as database, transaction(database) as tx:
                return await work(tx)

        return asyncio.run(run())

    def one(self, statement: str, *values: Any) -> Any:
        [(value,)] = self.query(statement, *values)
        return value

    def content(self) -> dict[str, str]:
        """A digest of every table's rows."""
        with psycopg.connect(self.url) as connection:
            tables = connection.execute(
                "select tablename from pg_tables where schemaname = 'public' and tablename not like 'procrastinate%'"
            ).fetchall()
            return {name: _digest(connection, name) for (name,) in tables}


def _digest(connection: psycopg.Connection[Any], table: str) -> str:
    rows = connection.execute(SQL("select t::text from {} t").format(Identifier(table))).fetchall()
    return hashlib.sha256("\n".join(sorted(text for (text,) in rows)).encode()).hexdigest()
