"""Files of stored records, in the form that imports read: people change them in a spreadsheet and import them again."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from tradecounter.db.transaction import Transaction
from tradecounter.imports.kinds import IMPORT_KINDS, fields_of_kind
from tradecounter.imports.queries import stored_rows
from tradecounter.kit.csv_text import cell_of, line
from tradecounter.kit.json_text import to_json
from tradecounter.products.queries.records import skus_of_components

_TOGETHER = 500  # rows that are in memory, and written in a thread, at a time
_BETWEEN = "|"  # the elements of a list of texts, in a cell


async def current_file(tx: Transaction, kind: str) -> str:
    """Return all records of a kind as a CSV file that imports them, in the order of their keys.

    Inactive records are left out, unless the kind has a column for that. A field that stored
    records do not have, such as `manufacturer_name` of products, is no column.
    """
    fields = fields_of_kind(kind)
    sku_of = await skus_of_components(tx) if "components" in fields else {}
    nests = "children" in fields
    columns: list[str] = []
    parts: list[str] = []
    async for stored in _parts(tx, kind, None if nests else _TOGETHER):
        rows = _nested(stored) if nests else stored
        columns = columns or [field for field in fields if field in rows[0]]
        parts.append(await asyncio.to_thread(_lines, columns, rows, sku_of))
    return line(columns or fields) + "".join(parts)


async def _parts(tx: Transaction, kind: str, most: int | None) -> AsyncIterator[list[dict[str, Any]]]:
    """Yield the records of a file, at most `most` at a time; all at once if it is None."""
    shows_inactive = "active" in fields_of_kind(kind)
    rows: list[dict[str, Any]] = []
    async for row in stored_rows(tx, IMPORT_KINDS[kind]):
        if shows_inactive or row.get("active", True):
            rows.append(row)
        if len(rows) == most:
            yield rows
            rows = []
    if rows:
        yield rows


def _lines(columns: list[str], rows: list[dict[str, Any]], sku_of: Mapping[str, str]) -> str:
    if "components" in columns:
        for row in rows:
            row["components"] = [each | {"sku": sku_of[each.pop("key")]} for each in row["components"]]
    return "".join(line([_cell(row[column]) for column in columns]) for row in rows)


def _nested(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the top-level categories with their children, in order."""
    below: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: int(row["position"])):
        below.setdefault(row["parent_key"] or "", []).append(row)
    return [
        {
            "key": top["key"],
            "name": top["name"],
            "children": [{"key": each["key"], "name": each["name"]} for each in below.get(top["key"], ())] or None,
        }
        for top in below.get("", ())
    ]


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        texts = [each["value"] if isinstance(each, dict) and each.keys() == {"value"} else each for each in value]
        if all(isinstance(text, str) and _is_part(text) for text in texts):
            return cell_of(_BETWEEN.join(texts))
    if isinstance(value, list | dict):
        return to_json(value).decode() if value else ""
    return cell_of(value)


def _is_part(text: str) -> bool:
    """Return whether imports read a text between separators as it is; a bracket begins JSON."""
    return text == text.strip() and bool(text) and _BETWEEN not in text and not text.startswith("[")
