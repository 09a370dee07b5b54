"""Attributes by key or name, and names that are taken (specification, catalogue)."""

from pathlib import Path
from typing import Any

import pytest

from support.importing import Importer, counts

ATTRIBUTES = [
    {"key": "colour", "name": "Colour", "type": "string"},
    {"key": "ports", "name": "Ethernet ports", "type": "int"},
    {"key": "Uplinks", "name": "Ports", "type": "int"},
]


@pytest.fixture
def shop(database_url: str, tmp_path: Path) -> Importer:
    importer = Importer(database_url, tmp_path)
    importer.load("manufacturers", [{"key": "acme", "name": "Acme"}])
    importer.load("attributes", ATTRIBUTES, replace=True)
    return importer


def load(shop: Importer, attributes: dict[str, str]) -> Any:
    return shop.load("products", [{"sku": "PHONE", "name": "Phone", "manufacturer": "acme", "attributes": attributes}])


def kept(shop: Importer) -> Any:
    return shop.one("select attributes from product where sku = 'PHONE'")


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("given", "key"),
    [
        ("colour", "colour"),
        ("Colour", "colour"),
        ("COLOUR", "colour"),
        (" Colour ", "colour"),
        ("Ethernet ports", "ports"),
        ("ethernet PORTS", "ports"),
        ("uplinks", "Uplinks"),
        # A key counts before another attribute's name.
        ("ports", "ports"),
        ("Ports", "ports"),
    ],
)
def test_values_are_kept_by_key_whether_given_by_key_or_name(given: str, key: str, shop: Importer) -> None:
    assert not load(shop, {given: "x"}).errors
    assert kept(shop) == {key: "x"}


def test_two_names_of_one_attribute_are_rejected(shop: Importer) -> None:
    report = load(shop, {"ports": "8", "Ethernet ports": "8"})
    assert [error.message for error in report.errors] == [
        "attributes: 'ports' and 'Ethernet ports' are the same attribute"
    ]


def test_an_unknown_attribute_is_kept_and_warned_of_once(shop: Importer) -> None:
    rows = [
        {"sku": f"S{number}", "name": "S", "manufacturer": "acme", "attributes": {"Portz": "8", "colour": "Red"}}
        for number in range(3)
    ]
    report = shop.load("products", rows)
    assert not report.errors
    assert [(warning.line, warning.message) for warning in report.warnings] == [
        (1, "attributes: attribute 'Portz' does not exist")
    ]
    assert shop.one("select attributes from product where sku = 'S2'") == {"Portz": "8", "colour": "Red"}


@pytest.mark.parametrize("name", ["Colour", "COLOUR", "colour"])
def test_a_second_attribute_of_the_same_name_is_rejected_without_case(name: str, shop: Importer) -> None:
    report = shop.load(
        "attributes", [{"key": "new", "name": "New", "type": "int"}, {"key": "c2", "name": name, "type": "int"}]
    )
    assert [(error.line, error.message) for error in report.errors] == [
        (2, f"name: {name!r} is already the name of the attribute 'colour'")
    ]


def test_two_attributes_with_the_same_name_in_a_file_are_rejected(shop: Importer) -> None:
    rows = [{"key": key, "name": name, "type": "int"} for key, name in (("s1", "Straße"), ("s2", "STRASSE"))]
    report = shop.load("attributes", rows)
    assert [(error.line, error.message) for error in report.errors] == [
        (2, "name: 'STRASSE' is already the name of the attribute 's1'")
    ]


def test_attributes_may_exchange_and_reuse_names(shop: Importer) -> None:
    swapped = [{**ATTRIBUTES[0], "name": "Ports"}, {**ATTRIBUTES[2], "name": "Colour"}]
    assert counts(shop.load("attributes", swapped)) == (0, 2, 0, 0)
    # An attribute that a replacing file drops loses its name.
    alone = [{"key": "tint", "name": "colour", "type": "string"}]
    assert counts(shop.load("attributes", alone, replace=True)) == (1, 0, 0, 3)
