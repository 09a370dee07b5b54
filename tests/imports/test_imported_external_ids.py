"""The reseller's own ids in files: unique, exchangeable, and rolled back."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from support.cluster import Cluster
from support.importing import Importer
from tradecounter.bulk.import_options import ImportReport
from tradecounter.imports.run import roll_back_import
from tradecounter.kit.errors import DomainError, Kind


@pytest.fixture
def shop(postgres: Cluster, tmp_path: Path) -> Iterator[Importer]:
    with postgres.database() as url:
        importer = Importer(url, tmp_path)
        importer.load("manufacturers", [{"key": "m", "name": "M"}])
        yield importer


def load(shop: Importer, **ids: Any) -> ImportReport:
    rows = [{"sku": sku, "name": sku, "manufacturer": "m", "external_id": own} for sku, own in ids.items()]
    return shop.load("products", rows)


def ids(shop: Importer) -> dict[str, Any]:
    return dict(shop.query("select sku, external_id from product where active order by sku"))


def roll_back(shop: Importer, report: ImportReport) -> None:
    assert report.id is not None
    shop.change_by(partial(roll_back_import, import_id=report.id, now=datetime.now(UTC)))


def test_two_products_exchange_their_ids_and_a_roll_back_exchanges_them_again(shop: Importer) -> None:
    load(shop, A="1", B="2")
    exchanged = load(shop, A=" 2 ", B="1")
    assert ids(shop) == {"A": "2", "B": "1"}
    roll_back(shop, exchanged)
    assert ids(shop) == {"A": "1", "B": "2"}


def test_an_id_of_another_record_and_one_that_is_twice_in_the_file_are_errors_of_their_lines(shop: Importer) -> None:
    load(shop, A="1")
    found = load(shop, B="1", C="3", D="3", E="e\nx").errors
    assert [(error.line, error.message) for error in found] == [
        (1, 'external_id: "1" is that of A'),
        (3, 'external_id: "3" is there twice'),
        (4, "external_id: 'e\\nx' has a line break"),
    ]
    assert ids(shop) == {"A": "1"}


def test_an_empty_id_takes_it_away_and_a_file_without_the_column_keeps_it(shop: Importer) -> None:
    load(shop, A="1")
    shop.load("products", [{"sku": "A", "name": "Ay"}])
    assert ids(shop) == {"A": "1"}
    shop.load_text("products", "sku,external_id\nA,\n")
    assert ids(shop) == {"A": None}


def test_a_roll_back_returns_an_id_that_a_new_product_took(shop: Importer) -> None:
    load(shop, A="1")
    roll_back(shop, load(shop, A=None, B="1"))
    assert ids(shop) == {"A": "1"}


def test_a_roll_back_does_not_take_an_id_from_a_third_record(shop: Importer) -> None:
    load(shop, A="1")
    taken_away = load(shop, A=None)
    load(shop, C="1")
    with pytest.raises(DomainError, match=r"A: external_id: \"1\" is that of C") as rejected:
        roll_back(shop, taken_away)
    assert rejected.value.kind is Kind.CONFLICT
    assert ids(shop) == {"A": None, "C": "1"}


def test_customers_have_ids_of_their_own(shop: Importer) -> None:
    ada = {"email_address": "ada@a.example", "first_name": "A", "last_name": "A", "external_id": "1"}
    load(shop, A="1")
    assert shop.load("customers", [ada]).added == 1
    found = shop.load("customers", [ada | {"email_address": "bo@a.example"}]).errors
    assert [error.message for error in found] == ['external_id: "1" is that of ada@a.example']
