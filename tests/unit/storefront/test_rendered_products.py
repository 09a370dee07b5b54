"""Products as bytes: JSON and CSV have the same content, for random products."""

import csv
import io
import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.arrays import delivery_rows, stock_rows
from support.catalogue_records import product_record
from support.naive_catalogue import EXTRAS, Row, product_from_csv
from tradecounter.prices.price_book import PriceVector, SharedPrices
from tradecounter.products.queries.records import ProductRecord, ReferenceRecords
from tradecounter.products.snapshot.catalogue_snapshot import build_snapshot
from tradecounter.products.wire import Product
from tradecounter.stock.stock_vector import empty_stock
from tradecounter.storefront.render import render_csv, render_json
from tradecounter.storefront.view import CustomerView

JANUARY, JULY = datetime(2026, 1, 5, 9, tzinfo=UTC), datetime(2026, 7, 5, 9, tzinfo=UTC)


def view_of(products: list[ProductRecord], pence: int, available: int, *, trade: bool) -> CustomerView:
    """Return a view in which all products have the same price and stock, and two deliveries."""
    snapshot = build_snapshot(ReferenceRecords([], [], []), products)
    costs = np.array([[pence, pence // 2, pence // 3]] * len(products), dtype=np.int32).reshape(-1, 3)
    stock = empty_stock(len(products)).with_levels(
        stock_rows(*((p.id, available, 0) for p in products)), snapshot.row_of_id
    )
    due = delivery_rows(*((p.id, 2, moment) for moment in (JANUARY, JULY) for p in products))
    stock = stock.with_deliveries(due, snapshot.row_of_id)
    return CustomerView(snapshot, PriceVector(SharedPrices(costs)), stock, trade, 5, None, JANUARY.date())


def expected(product: ProductRecord, pence: int, available: int, extras: set[str], *, trade: bool) -> Row:
    incoming = [{"incoming": 2, "expected_on": at} for at in ("2026-01-05T09:00:00", "2026-07-05T10:00:00")]
    status = "In stock" if available >= 5 else "Low stock" if available else "On order" if trade else "Out of stock"
    fields = {name: getattr(product, name) for name in ProductRecord.__struct_fields__}
    for name in {"id", "sku_key", "active", "components", "documents", *EXTRAS.values()} - extras:
        del fields[name]
    names = ("single_unit_cost", "five_plus_unit_cost", "ten_plus_unit_cost")
    return {
        **fields,
        "availability": {"available": available, "status": status, "incoming": incoming if trade else []},
        **{name: Decimal(cost).scaleb(-2) for name, cost in zip(names, (pence, pence // 2, pence // 3), strict=True)},
    }


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
SKUS = st.text(st.sampled_from('aA"/,\r\n é;='), min_size=1, max_size=5)
AMOUNTS = st.integers(0, 10**8).map(lambda pence: Decimal(pence).scaleb(-2))
SIZES = st.sampled_from([Decimal(0), Decimal("0.1"), Decimal(1000), Decimal("12.345")])
IMAGES = st.lists(st.fixed_dictionaries({"url": TEXT, "is_primary": st.booleans()}), max_size=2)
LINKS = st.lists(SKUS, max_size=2)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "ean": st.none() | st.just("0012345678905"),
    "name": TEXT,
    "weight_kg": SIZES,
    "box_width_mm": SIZES,
    "clearance_product": st.booleans(),
    "consumer_unit_cost": AMOUNTS,
    "description": TEXT,
    "description_html": TEXT,
    "short_description": TEXT,
    "store_url": TEXT,
    "images": IMAGES,
    "categories": LINKS,
    "attributes": st.dictionaries(TEXT, TEXT, max_size=2),
    "related_products": LINKS,
    "similar_products": LINKS,
}
PRODUCTS = st.lists(
    st.tuples(SKUS, st.fixed_dictionaries(FIELDS)), max_size=3, unique_by=lambda product: product[0].casefold()
)


@pytest.mark.sweep
@pytest.mark.spec("2 Product", "every field, with the type in the table")
@settings(max_examples=120, derandomize=True, deadline=None)
@given(
    products=PRODUCTS,
    pence=st.sampled_from([0, 1, 99, 100, 101, 123_456_789]),
    available=st.sampled_from([0, 4, 5, 10**9]),
    extras=st.sets(st.sampled_from(list(EXTRAS.values()))),
    trade=st.booleans(),
)
def test_json_and_csv_contain_every_field_of_every_product(
    products: list[tuple[str, dict[str, Any]]], pence: int, available: int, extras: set[str], *, trade: bool
) -> None:
    records = [product_record(sku, **values) for sku, values in products]
    view = view_of(records, pence, available, trade=trade)
    rows = np.arange(len(records), dtype=np.int32)
    wanted = [expected(view.product(row), pence, available, extras, trade=trade) for row in range(len(view.snapshot))]
    for shown in wanted:
        for name in {"related_products", "similar_products"} & extras:
            shown[name] = [sku for sku in shown[name] if view.snapshot.row(sku) is not None]

    as_json = b"".join(render_json(view, rows, extras))
    assert json.loads(as_json, parse_float=Decimal) == wanted
    assert len(msgspec.json.decode(as_json, type=list[Product])) == len(records)

    text = b"".join(render_csv(view, rows, extras)).decode()
    lines = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert [product_from_csv(cells) for cells in lines] == wanted
    assert text.endswith("\r\n")


def test_rows_are_rendered_in_the_given_order_with_repetitions() -> None:
    view = view_of([product_record(sku) for sku in "ABC"], 100, 1, trade=False)
    rows = np.array([2, 0, 2], dtype=np.int32)
    assert [p["sku"] for p in json.loads(b"".join(render_json(view, rows)))] == ["C", "A", "C"]
    lines = b"".join(render_csv(view, rows)).decode().splitlines()[1:]
    assert [line.split(",")[0] for line in lines] == ["C", "A", "C"]
