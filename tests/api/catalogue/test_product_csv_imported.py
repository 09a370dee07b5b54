"""The API's CSV catalogue is a valid import file of products."""

from pathlib import Path

from support.importing import Importer
from support.service import Service
from support.shop import product
from tradecounter.bulk.tables import ColumnOptions


def test_importing_the_apis_csv_catalogue_changes_nothing(shop: Service, tmp_path: Path) -> None:
    shop.must_load("categories", [{"key": "phones", "name": "Phones, desks"}, {"key": "desk", "name": "Desk"}])
    shop.must_load("attributes", [{"key": "ports", "name": "Ethernet ports", "type": "int"}])
    full = {
        "ean": "4006381333931",
        "categories": ["phones", "desk"],
        "attributes": {"ports": "2"},
        "images": [{"is_primary": True, "url": "https://shop.example/a,b.jpg"}],
        "related_products": ["CABLE", "SWITCH"],
        "similar_products": ["CABLE"],
        "description": 'Rings, "loudly"\nand often',
        "consumer_unit_cost": "1234.50",
        "clearance_product": True,
    }
    shop.must_load("products", [product("PHONE", **full)])
    extra = "extra=description,description_html,short_description"
    text = shop.customer().get(f"/product?{extra}", headers={"Accept": "text/csv"}).content
    report = Importer(shop.database_url, tmp_path).load_text(
        "products", text, columns=ColumnOptions(ignore_unknown=True)
    )
    assert report.errors == []
    assert (report.added, report.changed, report.unchanged) == (0, 0, 3)
