"""Partial imports: good rows are imported, the others listed, and what they name stays as it is."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from support.cluster import Cluster
from support.importing import Importer
from tradecounter.bulk.differences import Change
from tradecounter.bulk.import_options import ImportReport
from tradecounter.imports.run import roll_back_import
from tradecounter.kit.errors import DomainError


@pytest.fixture
def shop(postgres: Cluster, tmp_path: Path) -> Iterator[Importer]:
    with postgres.database() as url:
        importer = Importer(url, tmp_path)
        importer.load("manufacturers", [{"key": "m", "name": "M"}])
        importer.load("products", rows("A", "B", "C"))
        yield importer


def rows(*skus: str, **values: Any) -> list[dict[str, Any]]:
    return [{"sku": sku, "name": sku, "manufacturer": "m", **values} for sku in skus]


def load(shop: Importer, *wanted: dict[str, Any], **options: Any) -> ImportReport:
    return shop.load("products", wanted, partial=True, **options)


def names(shop: Importer) -> dict[str, str]:
    return dict(shop.query("select sku, name from product where active order by sku"))


def test_good_rows_are_imported_the_others_listed_and_all_of_it_rolled_back(shop: Importer) -> None:
    bad = [{"sku": "B", "name": "Bee", "weight_kg": "heavy"}, {"sku": "NEW", "name": "New"}]
    told: list[Change] = []
    report = load(shop, {"sku": "A", "name": "Ay"}, *bad, *rows("D"), on_change=told.append)
    assert [(change.line, change.key) for change in told] == [(1, "A"), (4, "D")]
    assert (report.added, report.changed, report.unchanged, report.skipped) == (1, 1, 0, 2)
    assert {error.line for error in report.errors} == {2, 3}
    assert names(shop) == {"A": "Ay", "B": "B", "C": "C", "D": "D"}
    assert report.id is not None
    done = shop.change_by(partial(roll_back_import, import_id=report.id, now=datetime.now(UTC)))
    assert (done.restored, names(shop)) == (2, {"A": "A", "B": "B", "C": "C"})


def test_rows_that_need_a_bad_row_are_left_out_too(shop: Importer) -> None:
    chain = [*rows("E", related_products=["F"]), *rows("F", related_products=["G"]), *rows("G", weight_kg="heavy")]
    report = load(shop, *chain, {"sku": "A", "name": "Ay"})
    assert (report.changed, report.skipped, [error.line for error in report.errors]) == (1, 3, [1, 2, 3])


def test_a_chain_of_rows_that_is_too_long_is_rejected(shop: Importer) -> None:
    chain = [row for n in range(40) for row in rows(f"L{n}", related_products=[f"L{n + 1}"])]
    with pytest.raises(DomainError, match="need others with errors"):
        load(shop, *chain)
    assert len(names(shop)) == 3


def test_without_a_good_row_and_in_a_dry_run_nothing_is_imported(shop: Importer) -> None:
    before = shop.content()
    assert load(shop, {"sku": "A", "weight_kg": "heavy"}).is_rejected
    tried = load(shop, {"sku": "A", "weight_kg": "heavy"}, {"sku": "B", "name": "Bee"}, dry_run=True)
    assert (tried.id, tried.changed, tried.skipped) == (None, 1, 1)
    assert shop.content() == before


@pytest.mark.parametrize("text", ['sku,name\nA,Ay\nB,"Bee', "sku,nom\nA,Ay\n"])
def test_a_file_that_cannot_be_read_to_its_end_is_rejected_whole(shop: Importer, text: str) -> None:
    before = shop.content()
    assert shop.load_text("products", text, partial=True).is_rejected
    assert shop.content() == before


def test_a_file_with_too_many_errors_is_not_read_to_its_end(shop: Importer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tradecounter.bulk.stage_rows.MOST_MESSAGES", 150)
    rows = [{"key": "good", "name": "Good"}, *({"key": f"bad-{n}"} for n in range(500))]
    report = shop.load("manufacturers", rows, partial=True)
    assert (len(report.errors), report.is_rejected) == (200, True)
    assert report.errors[0].message == "there are too many errors: only 200 lines are read"


def test_replacing_keeps_the_records_of_bad_rows(shop: Importer) -> None:
    report = load(shop, {"sku": "A"}, {"sku": "B", "weight_kg": "heavy"}, replace=True)
    assert (report.deactivated, sorted(names(shop))) == (1, ["A", "B"])


def test_replacing_deactivates_nothing_while_a_bad_rows_record_is_unknown(shop: Importer) -> None:
    text = '{"sku": "A", "name": "Ay"}\n{"sku": \n'
    report = shop.load_text("products", text, ".jsonl", partial=True, replace=True)
    assert (report.changed, report.deactivated, report.skipped) == (1, 0, 1)
    assert "nothing is deactivated" in report.warnings[0].message
    assert sorted(names(shop)) == ["A", "B", "C"]


def test_prices_that_may_be_slips_and_lists_that_nobody_knows_are_left_out(shop: Importer) -> None:
    prices = [{"price_list": "default", "sku": sku, "single_unit_cost": 10} for sku in ("A", "B", "C")]
    shop.load("price-list", prices)
    cheap = [
        {**prices[0], "single_unit_cost": 1},
        {**prices[1], "single_unit_cost": "dear"},
        {**prices[2], "single_unit_cost": 11},
        {**prices[2], "price_list": "nobodys"},
    ]
    report = shop.load("price-list", cheap, partial=True, force=False)
    assert (report.changed, report.added, report.skipped) == (1, 0, 3)
    assert [(error.line, error.message) for error in report.errors if error.line != 2] == [
        (1, "single_unit_cost: £10.00 -> £1.00 is more than half off its price of £10.00 (sku A)"),
        (4, "price_list: has no prices yet and is no customer's (sku C)"),
    ]
    assert shop.load("price-list", cheap[:1], partial=True, force=False).is_rejected
    unread = {**cheap[1], "ten_plus_unit_cost": 1}
    report = shop.load("price-list", [unread, cheap[2]], partial=True, force=False)
    assert [error.line for error in report.errors] == [1]
    assert shop.load("price-list", cheap, partial=True, force=True).skipped == 1


def test_contract_prices_that_may_be_slips_are_left_out(shop: Importer) -> None:
    shop.load("customers", [{"email_address": "eve@a.example", "first_name": "E", "last_name": "E"}])
    [(customer_id,)] = shop.query("select max(id) from customer")
    agreed = [{"customer_id": customer_id, "sku": sku, "single_unit_cost": 10} for sku in ("A", "B")]
    shop.load("contract-prices", agreed)
    changed = [{**agreed[0], "single_unit_cost": 4.99}, {**agreed[1], "single_unit_cost": 5}]
    report = shop.load("contract-prices", changed, partial=True, force=False)
    assert (report.changed, [error.line for error in report.errors]) == (1, [1])


def test_the_limit_of_replacing_still_holds(shop: Importer) -> None:
    with pytest.raises(DomainError, match="more than a fifth"):
        load(shop, {"sku": "A"}, {"sku": "B", "weight_kg": "heavy"}, replace=True, confirmed=False)


def test_a_warning_about_a_row_that_is_imported_is_there_once(shop: Importer) -> None:
    ada = {"email_address": "ada@a.example", "first_name": "Ada", "last_name": "A", "shipping_method": 77}
    bob = {"email_address": "bob@a.example", "first_name": "", "last_name": "B", "shipping_method": 78}
    report = shop.load("customers", [ada, bob], partial=True)
    assert [warning.message for warning in report.warnings] == ["shipping_method: shipping method 77 does not exist"]
