"""The facets of the shop: each count is what the list has once the choice is made."""

from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from support.arrays import stock_rows
from support.catalogue_records import product_record
from tradecounter.kit.errors import DomainError
from tradecounter.prices.price_book import PriceVector, SharedPrices
from tradecounter.products.queries.records import (
    AttributeRecord,
    CategoryRecord,
    ManufacturerRecord,
    ProductRecord,
    ReferenceRecords,
)
from tradecounter.products.snapshot.catalogue_snapshot import build_snapshot
from tradecounter.stock.stock_vector import empty_stock
from tradecounter.storefront.facets import PRICE_RANGES, Choice, Shelf, ShopParameters, read_ranges
from tradecounter.storefront.shown_product import kind_of, tint_of
from tradecounter.storefront.view import CustomerView

DAY = date(2026, 6, 1)
COLOURS, PORTS = ("Black", "White"), ("8", "24")
REFERENCE = ReferenceRecords(
    [CategoryRecord("phones", "Phones", None), CategoryRecord("desk", "Desk phones", "phones")],
    [ManufacturerRecord("acme", "Acme"), ManufacturerRecord("bolt", "Bolt & Co")],
    [
        AttributeRecord("colour", "Colour", "string", [{"value": value} for value in COLOURS]),
        AttributeRecord("ports", "Ports", "int", [{"value": value} for value in PORTS]),
        AttributeRecord("poe", "PoE", "boolean", [{"value": "false"}, {"value": "true"}]),
    ],
)


def view_of(products: list[tuple[ProductRecord, int, int]]) -> CustomerView:
    """A view of products with the pence and the units of each, in the order of their SKUs."""
    snapshot = build_snapshot(REFERENCE, [record for record, _, _ in products])
    costs = np.array([[pence] * 3 for _, pence, _ in products], dtype=np.int32).reshape(-1, 3)
    levels = stock_rows(*((record.id, units, 0) for record, _, units in products))
    stock = empty_stock(len(products)).with_levels(levels, snapshot.row_of_id)
    return CustomerView(
        snapshot, PriceVector(SharedPrices(costs)), stock, trade_account=False, low_stock=5, mark=None, day=DAY
    )


def shelf_of(view: CustomerView, **wanted: Any) -> Shelf:
    return Shelf(view, ShopParameters(**wanted))


def counts(shelf: Shelf) -> dict[str, dict[str, int]]:
    return {facet.title: {choice.name: choice.count for choice in facet.choices} for facet in shelf.facets}


PRODUCT = st.fixed_dictionaries(
    {
        "manufacturer": st.sampled_from(["acme", "bolt"]),
        "categories": st.sampled_from([[], ["phones"], ["phones", "desk"]]),
        "clearance_product": st.booleans(),
        "attributes": st.fixed_dictionaries(
            {},
            optional={
                "colour": st.sampled_from(COLOURS),
                "ports": st.sampled_from(PORTS),
                "poe": st.sampled_from(["true", "false"]),
            },
        ),
    }
)
PRODUCTS = st.lists(
    st.tuples(PRODUCT, st.sampled_from([0, 499, 500, 1999, 2000, 600_000]), st.integers(0, 1)), max_size=8
)


def some(*texts: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(texts), max_size=2, unique=True).map(tuple)


WANTED = st.fixed_dictionaries(
    {},
    optional={
        "category": st.sampled_from([("phones",), ("Desk phones",)]),
        "query": st.sampled_from(["x1", "phone", "nothing"]),
        "manufacturer": some("acme", "bolt"),
        "attribute": some("colour=Black", "ports=24", "poe=true", "ports>=9"),
        "price": some("0-5", "5-10", "5000-"),
        "in_stock": st.just("true"),
        "reduced": st.sampled_from(["true", "false"]),
    },
)


def with_choice(wanted: ShopParameters, choice: Choice) -> ShopParameters:
    """The filters with this choice as the only one of its facet."""
    if choice.parameter in {"inStock", "reduced"}:
        return replace(wanted, **{"in_stock" if choice.parameter == "inStock" else "reduced": "true"})
    if choice.parameter == "attribute":
        name = choice.value.partition("=")[0]
        others = tuple(text for text in wanted.attribute if text.partition("=")[0] != name)
        return replace(wanted, attribute=(*others, choice.value))
    return replace(wanted, **{choice.parameter: (choice.value,)})


@pytest.mark.sweep
@settings(max_examples=150, derandomize=True, deadline=None)
@given(products=PRODUCTS, wanted=WANTED)
def test_a_count_is_the_number_of_products_that_the_choice_leaves(
    products: list[tuple[dict[str, Any], int, int]], wanted: dict[str, Any]
) -> None:
    records = [
        (product_record(f"X{n}", name=f"Phone {n}", **values), pence, units)
        for n, (values, pence, units) in enumerate(products)
    ]
    view = view_of(records)
    shelf = shelf_of(view, **wanted)
    for facet in shelf.facets:
        for choice in facet.choices:
            assert len(Shelf(view, with_choice(shelf.wanted, choice)).found) == choice.count, (facet.title, choice)
    for top in shelf.categories:
        for category in (top, *top.children):
            assert len(Shelf(view, replace(shelf.wanted, category=(category.key,))).found) == category.count


@pytest.fixture
def view() -> CustomerView:
    colours = ("Black", "Black", "White")
    return view_of(
        [
            (
                product_record(
                    f"X{n}",
                    manufacturer="acme",
                    categories=["phones", "desk"],
                    attributes={"colour": colour, "poe": "true"},
                ),
                (n + 1) * 1000,
                n,
            )
            for n, colour in enumerate(colours)
        ]
    )


def test_a_facet_keeps_its_other_choices_once_one_is_made(view: CustomerView) -> None:
    shelf = shelf_of(view, category=("desk",), attribute=("colour=black",))
    assert [shelf.view.product(row).sku for row in shelf.found[:9].tolist()] == ["X0", "X1"]
    assert counts(shelf)["Colour"] == {"Black": 2, "White": 1}
    assert [choice.name for choice in shelf.chosen] == ["Colour: black"]


def test_a_filter_that_would_leave_nothing_out_is_no_facet(view: CustomerView) -> None:
    titles = counts(shelf_of(view, category=("desk",))).keys()
    assert "Manufacturer" not in titles  # all are of one
    assert "PoE" not in titles  # all have it
    assert {"Colour", "Your price", "Availability"} <= titles


def test_attributes_are_offered_once_the_catalogue_is_narrowed(view: CustomerView) -> None:
    assert "Colour" not in counts(shelf_of(view))
    assert "Colour" in counts(shelf_of(view, query="x"))


def test_the_chosen_category_is_open(view: CustomerView) -> None:
    [closed] = shelf_of(view).categories
    [opened] = shelf_of(view, category=("Desk phones",)).categories
    assert (closed.name, closed.count, closed.children) == ("Phones", 3, ())
    assert [(child.name, child.is_chosen) for child in opened.children] == [("Desk phones", True)]
    assert [each.name for each in shelf_of(view, category=("desk",)).chosen_categories] == ["Desk phones"]


@pytest.mark.parametrize("wanted", [{"price": ("cheap",)}, {"price": ("5",)}, {"attribute": ("no=1",)}])
def test_filters_that_cannot_be_read_are_errors(view: CustomerView, wanted: dict[str, Any]) -> None:
    with pytest.raises(DomainError):
        _ = shelf_of(view, **wanted).found


def test_the_ranges_of_prices_have_no_gaps_and_are_read_as_they_are_written() -> None:
    pence = np.arange(0, 1_000_000, 7, dtype=np.int32)
    assert (np.sum([each.includes(pence) for each in PRICE_RANGES], axis=0) == 1).all()
    assert read_ranges(each.text for each in PRICE_RANGES) == list(PRICE_RANGES)
    assert [each.name for each in PRICE_RANGES[:2]] == ["Below £5", "£5 to £10"]
    assert PRICE_RANGES[-1].name == "£5,000 and more"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("PoE switches", "switch"),
        ("Headset accessories", "headset"),
        ("Fibre patch leads & DACs", "cable"),
        ("Full-fibre routers", "router"),
        ("SFP & SFP+ modules", "module"),
        ("Outdoor access points", "aerial"),
        ("DECT handsets", "phone"),
        ("UPS", "power"),
        ("Biscuits", "box"),
    ],
)
def test_what_is_drawn_follows_from_the_category(text: str, kind: str) -> None:
    assert kind_of([text]) == kind


def test_a_product_is_drawn_in_its_colour() -> None:
    assert tint_of({"Colour": "Graphite", "Ports": "2"}) == "black"
    assert tint_of({"color": "green"}) == "green"
    assert tint_of({"Colour": "Puce"}) == tint_of({}) == "plain"
