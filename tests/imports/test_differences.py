"""What an import changes, record by record: told while it is found, and the same in a dry run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.cluster import Cluster
from support.import_examples import EXAMPLES
from support.importing import Importer
from tradecounter.bulk.differences import Change, changes_after
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

pytestmark = pytest.mark.sweep(every=12)

ADDRESS = {"contact_name": "Ada", "street_one": "1 Road", "city": "Leeds", "zip": "LS1", "country_code": "GB"}


@pytest.fixture(scope="module")
def shop(postgres: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Importer]:
    with postgres.database() as url:
        importer = Importer(url, Path(tmp_path_factory.mktemp("imports")))
        importer.load("manufacturers", [{"key": "acme", "name": "Acme"}, {"key": "bolt", "name": "Bolt"}])
        importer.load("products", [{"sku": sku, "name": sku, "manufacturer": "acme"} for sku in ("A", "B", "C")])
        yield importer


def changes(shop: Importer, kind: str, rows: list[dict[str, Any]], **options: Any) -> list[Change]:
    """What a dry run says and what the import then does, which must be the same."""
    said: list[Change] = []
    before = shop.content()
    report = shop.load(kind, rows, on_change=said.append, dry_run=True, **options)
    assert not report.errors
    assert shop.content() == before
    done: list[Change] = []
    again = shop.load(kind, rows, on_change=done.append, **options)
    assert done == said
    counted = {change: sum(1 for c in done if c.change == change) for change in ("added", "changed", "deactivated")}
    assert counted == {"added": again.added, "changed": again.changed, "deactivated": again.deactivated}
    return done


def test_changed_members_are_shown_before_and_after_and_new_records_whole(shop: Importer) -> None:
    shop.load("manufacturers", [{"key": "acme", "name": "Acme"}])
    rows = [{"key": "bolt", "name": "Bolt"}, {"key": "acme", "name": "Acme Ltd"}, {"key": "nut", "name": "Nut"}]
    assert changes(shop, "manufacturers", rows) == [
        Change(2, "acme", "changed", {"name": "Acme"}, {"name": "Acme Ltd"}),
        Change(3, "nut", "added", None, {"key": "nut", "name": "Nut", "active": True}),
    ]


def test_records_missing_from_a_replacing_file_are_shown_without_a_line(shop: Importer) -> None:
    rows = [{"sku": "a"}, {"sku": "C", "name": "Sea"}]
    found = changes(shop, "products", rows, replace=True)
    assert found == [
        Change(1, "a", "changed", {"sku": "A"}, {"sku": "a"}),
        Change(2, "C", "changed", {"name": "C"}, {"name": "Sea"}),
        Change(None, "B", "deactivated", {"active": True}, {"active": False}),
    ]
    shop.load("products", [{"sku": "B", "active": True}])


def test_records_that_a_replacing_file_deletes_are_shown_whole(shop: Importer) -> None:
    price = {"price_list": "diff", "single_unit_cost": 1}
    shop.load("price-list", [{**price, "sku": "C"}, {**price, "sku": "B", "five_plus_unit_cost": "0.50"}])
    found = changes(shop, "price-list", [{**price, "sku": "C", "single_unit_cost": 2}], replace=True)
    assert [(c.line, c.key, c.change) for c in found] == [(1, "diff C", "changed"), (None, "diff B", "deactivated")]
    assert [str(c.before and c.before["single_unit_cost"]) for c in found] == ["1.00", "1.00"]
    assert found[1].after is None
    assert found[1].before is not None
    assert str(found[1].before["five_plus_unit_cost"]) == "0.50"


def test_a_new_address_is_a_change_of_its_customer(shop: Importer) -> None:
    person = {"email_address": "a@a.example", "first_name": "A", "last_name": "B"}
    shop.load("customers", [person])
    [change] = changes(shop, "customers", [{**person, "addresses": [ADDRESS]}])
    assert (change.line, change.key, change.change) == (1, "a@a.example", "changed")
    assert (change.before, change.after) == ({"addresses": []}, {"addresses": [ADDRESS]})


def test_a_file_that_changes_nothing_has_no_differences(shop: Importer) -> None:
    rows = [{"sku": "A", "available": 5}]
    assert len(changes(shop, "stock", rows)) == 1
    assert changes(shop, "stock", rows) == []


def test_a_rejected_file_has_no_differences(shop: Importer) -> None:
    found: list[Change] = []
    report = shop.load("stock", [{"sku": "A", "available": 6}, {"sku": "GONE", "available": 1}], on_change=found.append)
    assert report.errors
    assert found == []


@pytest.mark.parametrize("kind", EXAMPLES)
def test_differences_of_every_kind_match_the_counts(kind: str, examples: Importer) -> None:
    # A dry run uses numbers of customers up, so that the first one's is not known.
    ids = examples.query("select id from customer where email_key = 'a@a.example'")
    own = {"customer_id": ids[0][0]} if kind == "contract-prices" else {}
    rows = [{**row, **own} for row in EXAMPLES[kind].rows]
    assert changes(examples, kind, rows) != []
    assert changes(examples, kind, rows) == []
    [change] = changes(examples, kind, [{**EXAMPLES[kind].altered, **own}, *rows[1:]])
    assert (change.line, change.change) == (1, "changed")
    assert change.before is not None
    assert change.after is not None
    assert change.before.keys() == change.after.keys()


@pytest.fixture(scope="module")
def examples(postgres: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Importer]:
    with postgres.database() as url:
        yield Importer(url, Path(tmp_path_factory.mktemp("examples")))


def test_many_differences_are_reported_one_by_one_in_order(examples: Importer) -> None:
    rows = [{"key": f"maker{number:05}", "name": "Maker"} for number in range(12_000)]
    lines: list[int | None] = []
    examples.load("manufacturers", rows, on_change=lambda change: lines.append(change.line))
    assert lines == list(range(1, 12_001))


def test_a_page_of_changes_reads_no_others(shop: Importer) -> None:
    made = shop.load("manufacturers", [{"key": f"m{n}", "name": "M"} for n in range(3000)]).id
    assert made is not None

    async def page(tx: Transaction) -> tuple[list[int | None], int]:
        found = await changes_after(tx, made, 50, (2000, ""))
        read = Statement("""
            select pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid)
            from pg_class where relname = 'import_change'
        """)
        return [change.line for change in found], await tx.find_value(read)

    shop.change("analyze import_change")
    lines, rows_read = shop.change_by(page)
    assert lines == list(range(2000, 2050))
    assert rows_read < 200
