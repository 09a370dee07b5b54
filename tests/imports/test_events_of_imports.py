"""The events on products and customers that imports and their roll-backs make."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from support.cluster import Cluster
from support.importing import Importer
from tradecounter.imports.run import roll_back_import

ADA = {"email_address": "ada@a.example", "first_name": "Ada", "last_name": "A"}
HOME = {"contact_name": "Ada", "street_one": "1 Road", "city": "Leeds", "zip": "LS1 1AA", "country_code": "GB"}


@pytest.fixture(scope="module")
def shop(postgres: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Importer]:
    with postgres.database() as url:
        importer = Importer(url, Path(tmp_path_factory.mktemp("imports")))
        importer.load("manufacturers", [{"key": "m", "name": "M"}])
        yield importer


@pytest.fixture(autouse=True)
def nothing_recorded(shop: Importer) -> None:
    shop.change("delete from unnumbered_event")


def recorded(shop: Importer, subject: str) -> list[tuple[str, Any]]:
    sql = "select type, data from unnumbered_event where subject like %s order by position"
    return shop.query(sql, f"{subject}%")


def rows(*skus: str, **values: Any) -> list[dict[str, Any]]:
    return [{"sku": sku, "name": sku, "manufacturer": "m", **values} for sku in skus]


def roll_back(shop: Importer, import_id: int | None) -> None:
    assert import_id is not None
    shop.change_by(partial(roll_back_import, import_id=import_id, now=datetime.now(UTC)))


def test_each_product_is_named_by_what_happened_to_it(shop: Importer) -> None:
    shop.load("products", [*rows("OLD", external_id="ERP-1"), *rows("SAME", "GONE", "BACK")])
    shop.load("products", [{"sku": "BACK", "active": False}])
    shop.change("delete from unnumbered_event")
    file = [*rows("SAME", "NEW"), {"sku": "old", "weight_kg": 2}, {"sku": "BACK", "active": True}]
    done = shop.load("products", file, replace=True)
    about = {"import_id": done.id}
    assert recorded(shop, "product") == [
        ("product.added", {**about, "skus": ["NEW", "BACK"], "changed": ["active"], "external_ids": {}}),
        (
            "product.changed",
            {**about, "skus": ["old"], "changed": ["sku", "weight_kg"], "external_ids": {"old": "ERP-1"}},
        ),
        ("product.removed", {**about, "skus": ["GONE"], "changed": ["active"], "external_ids": {}}),
    ]
    shop.change("delete from unnumbered_event")
    roll_back(shop, done.id)
    assert [(type_, data["import_id"], data["skus"]) for type_, data in recorded(shop, "product")] == [
        ("product.added", done.id, ["GONE"]),
        ("product.changed", done.id, ["old"]),
        ("product.removed", done.id, ["NEW", "BACK"]),
    ]


def test_an_event_names_at_most_a_thousand_products(shop: Importer) -> None:
    skus = [f"MANY-{number:04}" for number in range(2_300)]
    shop.load("products", rows(*skus))
    events = recorded(shop, "product")
    assert [len(data["skus"]) for _, data in events] == [1_000, 1_000, 300]
    assert [sku for _, data in events for sku in data["skus"]] == skus


def test_nothing_is_recorded_for_a_dry_run_a_rejected_file_and_the_same_file_again(shop: Importer) -> None:
    shop.load("products", rows("TRIED"), dry_run=True)
    assert shop.load("products", [*rows("TRIED"), {"sku": "X", "weight_kg": "heavy"}]).errors
    assert recorded(shop, "") == []
    shop.load("products", rows("TRIED"))
    shop.change("delete from unnumbered_event")
    shop.load("products", rows("TRIED"))
    assert recorded(shop, "product") == []


def test_customers_are_created_or_changed_one_by_one_and_deleted_by_a_roll_back(shop: Importer) -> None:
    first = shop.load("customers", [{**ADA, "addresses": [HOME]}])
    [(ada,)] = shop.query("select id from customer")
    assert recorded(shop, "customer") == [("customer.created", {"customer_id": ada})]
    shop.change("delete from unnumbered_event")
    moved = {**ADA, "company": "Ada Ltd", "addresses": [{**HOME, "city": "York"}]}
    second = shop.load("customers", [moved, {**ADA, "email_address": "bo@a.example"}])
    [(bo,)] = shop.query("select id from customer where email_key = 'bo@a.example'")
    assert recorded(shop, "customer") == [
        ("customer.created", {"customer_id": bo}),
        ("customer.changed", {"customer_id": ada, "changed": ["company", "addresses"]}),
    ]
    shop.change("delete from unnumbered_event")
    roll_back(shop, second.id)
    assert recorded(shop, "customer") == [
        ("customer.changed", {"customer_id": ada, "changed": ["company", "addresses"]}),
        ("customer.changed", {"customer_id": bo, "changed": ["deleted"]}),
    ]
    roll_back(shop, first.id)
    assert recorded(shop, "customer")[2:] == [("customer.changed", {"customer_id": ada, "changed": ["deleted"]})]
