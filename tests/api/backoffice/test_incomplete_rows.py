"""A row that lacks a field, or has one of another type, is reported; it never ends the import with an error of ours."""

import json
from typing import Any

import httpx2
import pytest

from support.import_examples import EXAMPLES
from tradecounter.imports.kinds import IMPORT_KINDS

VALUES: tuple[Any, ...] = (None, 0, -1.5, True, "", " ", "\x00", [], [None], {}, {"": None})


def changed(row: dict[str, Any]) -> list[dict[str, Any]]:
    """A row without each of its fields in turn, with other values in each, and without any."""
    without = [{name: value for name, value in row.items() if name != left_out} for left_out in row]
    return [*without, *({**row, name: value} for name in row for value in VALUES), {}]


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("kind", sorted(IMPORT_KINDS))
def test_a_row_without_a_field_or_with_another_type_is_reported(staff: httpx2.Client, kind: str) -> None:
    rows = changed(EXAMPLES[kind].rows[0])
    file = "".join(f"{json.dumps(row)}\n" for row in rows)
    response = staff.post(
        f"/api/import/{kind}?dry_run=true", content=file, headers={"Content-Type": "application/jsonl"}
    )
    assert response.status_code == 422, response.text
    assert response.json()["errors"]
