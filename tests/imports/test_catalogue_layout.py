"""An import stores the layout of a large catalogue, which processes then read instead of all products."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

import pytest
from structlog.testing import capture_logs

from support.importing import Importer
from tradecounter.db.changes import bump
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.imports.run import roll_back_import
from tradecounter.products.snapshot.catalogue_snapshot import read_snapshot
from tradecounter.products.snapshot.layout import LARGE_FROM, lay_out_after, read_laid_out

PRODUCTS = [{"sku": f"P{number}", "name": "First", "manufacturer": "acme"} for number in range(20)]
LAYOUTS = "select version from catalogue_layout"
VERSION = "select version from change where topic = 'catalogue'"
_RENAME = Statement("update product set name = :name where sku = any(:skus::text[])")


@pytest.fixture
def shop(own_importer: Importer) -> Importer:
    """A catalogue of twenty products."""
    own_importer.load("products", PRODUCTS)
    return own_importer


def change(shop: Importer, name: str, *, changed: int = len(PRODUCTS)) -> None:
    """Rename some products as an import does, in a catalogue that counts as large."""

    async def work(tx: Transaction) -> None:
        skus = [row["sku"] for row in PRODUCTS[:changed]]
        await tx.execute(_RENAME, name=name, skus=skus)
        await bump(tx, "catalogue")
        await lay_out_after(tx, changed, large_from=len(PRODUCTS))

    shop.change_by(work)


def names(shop: Importer) -> set[str]:
    """Return the names of all products as processes read them."""
    snapshot = shop.change_by(read_laid_out)
    return {snapshot.product(row).name for row in range(len(snapshot))}


def test_the_layout_is_the_same_as_the_products(shop: Importer) -> None:
    change(shop, "Laid out")
    assert shop.query(LAYOUTS) == shop.query(VERSION)
    assert shop.change_by(read_laid_out).digest == shop.change_by(read_snapshot).digest


def test_processes_read_the_layout_and_not_the_products(shop: Importer) -> None:
    change(shop, "Laid out")
    shop.change("update product set name = 'Without a new version'")
    assert names(shop) == {"Laid out"}


def test_the_products_are_read_after_a_change_without_a_layout(shop: Importer) -> None:
    change(shop, "Laid out")
    shop.load("products", [{**row, "name": "Later"} for row in PRODUCTS])
    assert names(shop) == {"Later"}


def test_the_products_are_read_where_another_program_laid_them_out(shop: Importer) -> None:
    change(shop, "Laid out")
    shop.change("update catalogue_layout set program = 'another'; update product set name = 'Read'")
    assert names(shop) == {"Read"}


def test_the_products_are_read_where_the_layout_is_damaged(shop: Importer) -> None:
    change(shop, "Laid out")
    shop.change("update catalogue_layout set data = substr(data, 1, 99); update product set name = 'Read'")
    with capture_logs() as logs:
        assert names(shop) == {"Read"}
    assert [line["event"] for line in logs] == [
        "a stored layout of the catalogue cannot be read, so the products are read"
    ]


def test_a_change_of_fewer_than_a_tenth_of_the_products_is_not_laid_out(shop: Importer) -> None:
    change(shop, "Laid out", changed=2)
    assert shop.query(LAYOUTS) == shop.query(VERSION)
    change(shop, "Later", changed=1)
    assert shop.query(LAYOUTS) != shop.query(VERSION)
    assert names(shop) == {"First", "Laid out", "Later"}


@pytest.mark.long
def test_imports_of_a_large_catalogue_and_their_roll_backs_lay_it_out(own_importer: Importer) -> None:
    rows = [{**PRODUCTS[0], "sku": f"P{number}"} for number in range(LARGE_FROM)]
    steps: list[tuple[bool, set[str], Callable[[], object]]] = [
        (False, {"First"}, lambda: own_importer.load("products", rows[1:])),
        (False, {"First"}, lambda: own_importer.load("products", rows[:1])),
        (False, {"First"}, lambda: own_importer.load("products", renamed, dry_run=True)),
        (True, {"Second"}, lambda: own_importer.load("products", renamed)),
        (True, {"First"}, lambda: own_importer.change_by(partial(roll_back_import, import_id=last(), now=now))),
    ]
    renamed = [{**row, "name": "Second"} for row in rows]
    now = datetime.now(UTC)

    def last() -> int:
        return int(own_importer.one("select max(id) from import_run"))

    for laid_out, shown, step in steps:
        step()
        assert (own_importer.query(LAYOUTS) == own_importer.query(VERSION)) is laid_out
        assert names(own_importer) == shown
