"""Files of what is stored: imported again, they change nothing, and one changed cell changes one record."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.cluster import Cluster
from support.import_examples import EXAMPLES
from support.importing import Importer, counts
from tradecounter.imports.current_file import current_file
from tradecounter.imports.kinds import IMPORT_KINDS

KINDS = [kind for kind in IMPORT_KINDS if kind != "customers"]


@pytest.fixture(scope="module")
def filled(postgres: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Importer]:
    with postgres.database() as url:
        importer = Importer(url, Path(tmp_path_factory.mktemp("current")))
        for kind, example in EXAMPLES.items():
            importer.load(kind, example.rows)
        yield importer


def file_of(importer: Importer, kind: str) -> str:
    return importer.change_by(lambda tx: current_file(tx, kind))


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("kind", KINDS)
def test_the_file_of_a_kind_has_all_its_records_and_changes_nothing(filled: Importer, kind: str) -> None:
    report = filled.load_text(kind, file_of(filled, kind), dry_run=True)
    added, changed, unchanged, deactivated = counts(report)
    assert (added, changed, deactivated) == (0, 0, 0)
    assert unchanged == counts(filled.load(kind, EXAMPLES[kind].rows, dry_run=True))[2] > 0


def test_a_price_that_is_changed_in_the_file_is_the_only_change(filled: Importer) -> None:
    rows = list(csv.DictReader(io.StringIO(file_of(filled, "price-list"), newline="")))
    rows[0]["single_unit_cost"] = "1.23"
    rows[0] |= {"five_plus_unit_cost": "", "ten_plus_unit_cost": ""}
    report = filled.load("price-list", rows, ".csv", dry_run=True)
    assert counts(report) == (0, 1, len(rows) - 1, 0)


def test_lists_and_bundles_are_cells_that_people_can_edit(filled: Importer) -> None:
    listed = {"sku": "LISTED", "name": "=1+1", "manufacturer": "acme"}
    components = [{"sku": "listed", "quantity": 2}]
    kit = {"sku": "kit", "name": "Kit", "manufacturer": "acme", "components": components} | {
        "related_products": ["LISTED", "CABLE"]
    }
    assert counts(filled.load("products", [listed, kit])) == (2, 0, 0, 0)
    rows = {row["sku"]: row for row in csv.DictReader(io.StringIO(file_of(filled, "products"), newline=""))}
    assert rows["LISTED"]["name"] == "'=1+1"  # no formula for a spreadsheet
    assert rows["kit"]["components"] == '[{"quantity":2,"sku":"LISTED"}]'
    assert rows["kit"]["related_products"] == "LISTED|CABLE"
    assert counts(filled.load_text("products", file_of(filled, "products"), dry_run=True))[1] == 0


def test_texts_that_a_list_in_a_cell_cannot_have_are_read_back(own_importer: Importer) -> None:
    values = [{"value": value} for value in ("[none]", " two ", "")]
    own_importer.load("attributes", [{"key": "size", "name": "Size", "type": "string", "possible_values": values}])
    text = file_of(own_importer, "attributes")
    assert counts(own_importer.load_text("attributes", text, dry_run=True)) == (0, 0, 1, 0)


def test_a_file_is_written_in_parts_and_is_whole(own_importer: Importer) -> None:
    own_importer.load("manufacturers", [{"key": "acme", "name": "Acme"}])
    made: list[dict[str, Any]] = [
        {"sku": f"PART-{number:04}", "name": "Part", "manufacturer": "acme"} for number in range(1200)
    ]
    made[0]["components"] = [{"sku": made[-1]["sku"], "quantity": 2}]  # which is in the last part
    own_importer.load("products", made)
    file = file_of(own_importer, "products")
    assert [row["sku"] for row in csv.DictReader(io.StringIO(file, newline=""))] == [each["sku"] for each in made]
    assert counts(own_importer.load_text("products", file, dry_run=True)) == (0, 0, len(made), 0)


def test_a_kind_without_records_has_a_file_with_all_its_columns(own_importer: Importer) -> None:
    assert file_of(own_importer, "price-list") == (
        "price_list,sku,single_unit_cost,five_plus_unit_cost,ten_plus_unit_cost\r\n"
    )


def test_what_is_no_longer_active_is_left_out_unless_the_file_says_so(own_importer: Importer) -> None:
    own_importer.load("manufacturers", [{"key": "acme", "name": "Acme"}, {"key": "gone", "name": "Gone"}])
    own_importer.load("products", [{"sku": "OFF", "name": "Off", "manufacturer": "acme", "active": False}])
    own_importer.load("manufacturers", [{"key": "acme", "name": "Acme"}], replace=True)
    assert file_of(own_importer, "manufacturers") == "key,name\r\nacme,Acme\r\n"
    assert "OFF,,Off,acme," in file_of(own_importer, "products")
