"""Every kind of import file, in every form: what it adds, changes, leaves and takes away, and what it counts."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.cluster import Cluster
from support.import_examples import EXAMPLES, PHONE
from support.importing import Importer, counts
from tradecounter.bulk.import_options import ImportReport
from tradecounter.imports.kinds import IMPORT_KINDS
from tradecounter.kit.errors import DomainError

pytestmark = pytest.mark.sweep(every=5)

Counts = tuple[int, int, int, int]


@dataclass(frozen=True)
class History:
    """What the imports of one kind, in one form, counted."""

    first: Counts
    again: Counts
    tried: Counts
    untouched: bool
    altered: Counts


@pytest.fixture(scope="module", params=[".jsonl", ".json", ".csv"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def fresh(postgres: Cluster, form: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Importer]:
    with postgres.database() as url:
        yield Importer(url, Path(tmp_path_factory.mktemp(f"form{form}")))


def history(importer: Importer, kind: str, form: str) -> History:
    example = EXAMPLES[kind]
    first = importer.load(kind, example.rows, form)
    again = importer.load(kind, example.rows, form)
    before = importer.content()
    tried = importer.load(kind, [example.altered, *example.rows[1:]], form, dry_run=True)
    untouched = importer.content() == before
    altered = importer.load(kind, [example.altered], form)
    return History(counts(first), counts(again), counts(tried), untouched, counts(altered))


@pytest.fixture(scope="module")
def histories(fresh: Importer, form: str) -> dict[str, History]:
    return {kind: history(fresh, kind, form) for kind in EXAMPLES}


@pytest.fixture(scope="module")
def replaced(fresh: Importer, form: str, histories: dict[str, History]) -> dict[str, tuple[ImportReport, list[Any]]]:
    """Per kind, the report of a replacing file with the altered row alone, and what was there afterwards."""
    assert histories.keys() == EXAMPLES.keys()
    found = {}
    for kind, example in reversed(EXAMPLES.items()):
        if example.replaceable:
            report = fresh.load(kind, [example.altered], form, replace=True)
            found[kind] = (report, [value for (value,) in fresh.query(example.statement)])
    return found


def test_there_is_an_example_of_every_kind() -> None:
    assert EXAMPLES.keys() == IMPORT_KINDS.keys()


@pytest.mark.parametrize("kind", EXAMPLES)
def test_new_rows_are_added_and_the_same_file_again_changes_nothing(kind: str, histories: dict[str, History]) -> None:
    records = EXAMPLES[kind].records
    assert histories[kind].first == (records, 0, 0, 0)
    assert histories[kind].again == (0, 0, records, 0)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_dry_run_counts_changes_and_makes_none(kind: str, histories: dict[str, History]) -> None:
    assert histories[kind].tried == (0, 1, EXAMPLES[kind].records - 1, 0)
    assert histories[kind].untouched


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_changed_row_is_updated_and_missing_records_stay(kind: str, histories: dict[str, History]) -> None:
    added, changed, _, deactivated = histories[kind].altered
    assert (added, changed, deactivated) == (0, 1, 0)


@pytest.mark.parametrize("kind", [kind for kind, example in EXAMPLES.items() if example.replaceable])
def test_a_replacing_file_removes_missing_records(
    kind: str, replaced: dict[str, tuple[ImportReport, list[Any]]]
) -> None:
    report, left = replaced[kind]
    assert not report.errors
    assert (report.added, report.changed, report.deactivated) == (0, 0, 1)
    assert sorted(left) == list(EXAMPLES[kind].kept)


def test_customers_cannot_be_replaced(fresh: Importer, form: str, histories: dict[str, History]) -> None:
    assert "customers" in histories
    before = fresh.content()
    with pytest.raises(DomainError, match="cannot replace"):
        fresh.load("customers", EXAMPLES["customers"].rows, form, replace=True)
    assert fresh.content() == before


@pytest.mark.spec("2 Product", "every field, with the type in the table")
def test_every_field_of_a_product_is_imported(fresh: Importer, histories: dict[str, History]) -> None:
    assert "products" in histories
    fresh.load("products", [PHONE])
    columns = [name for name in PHONE if name != "manufacturer_name"]
    [row] = fresh.query("select to_jsonb(p) from product p where sku = 'PHONE'")
    numbers = ("weight_kg", "box_width_mm", "box_height_mm", "box_length_mm", "consumer_unit_cost")
    wanted = {name: PHONE[name] for name in columns}
    found = {name: row[0][name] for name in columns}
    assert {n: float(found.pop(n)) for n in numbers} == {n: float(str(wanted.pop(n))) for n in numbers}
    assert found == wanted
