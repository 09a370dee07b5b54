"""Attribute filters, compared with a check of every product."""

import operator
from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.catalogue_records import product_record
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.products.queries.records import AttributeRecord
from tradecounter.products.snapshot.attribute_index import AttributeIndex, AttributeIndexBuilder, as_number

ATTRIBUTES = [
    AttributeRecord("ports", "Ports, total", "int", []),
    AttributeRecord("poe", "PoE", "boolean", []),
    AttributeRecord("colour", "Colour", "string", []),
    AttributeRecord("size", "Ports", "string", []),  # its name is another's key
]


def index(*attributes: dict[str, str]) -> AttributeIndex:
    builder = AttributeIndexBuilder(ATTRIBUTES)
    for row, values in enumerate(attributes):
        builder.add(row, product_record(str(row), attributes=values))
    return builder.done({attribute.key: [] for attribute in ATTRIBUTES})


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("24", "24"),
        (" 24 ", "24"),
        ("+2.50", "2.5"),
        ("-.5", "-0.5"),
        ("3.", "3"),
        ("00", "0"),
        ("", None),
        (".", None),
        ("1e3", None),
        ("1,5", None),
        ("0x10", None),
        ("1_000", None),
        ("NaN", None),
        ("Infinity", None),
        ("٣", None),
        ("1\n2", None),
    ],
)  # fmt: skip
def test_only_plain_decimals_are_numbers(text: str, number: str | None) -> None:
    assert as_number(text) == (None if number is None else Decimal(number))


def test_without_filters_all_rows_match() -> None:
    assert index({"ports": "1"}).find([]) is None


def test_a_key_takes_precedence_over_another_attributes_name() -> None:
    found = index({"ports": "1"}, {"size": "1"})
    assert list(found.find(["ports=1"]) or ()) == [0]
    assert list(found.find(["SIZE=1"]) or ()) == [1]


def test_values_that_are_not_numbers_never_match_a_comparison() -> None:
    found = index({"ports": "many"}, {"ports": "4"}, {"unlisted": "4"}, {})
    assert list(found.find(["ports>=-999"]) or ()) == [1]


def test_spaces_around_a_value_are_ignored() -> None:
    found = index({"colour": " Red "}, {"ports": " 4 "})
    assert list(found.find(["colour=red"]) or ()) == [0]
    assert list(found.find(["ports=4"]) or ()) == [1]


@pytest.mark.parametrize(
    ("where", "problem"),
    [
        ("", "'' is not a filter"),
        ("ports", "'ports' is not a filter"),
        ("ports=", "'ports=' is not a filter"),
        ("=4", "'=4' is not a filter"),
        (" =4", "'' is not an attribute"),
        ("weight>4", "'weight' is not an attribute"),
        ("ports<=x", "'ports<=x' compares a number with 'x'"),
        ("ports==4", "'ports==4' compares a number with '=4'"),
        ("poe<true", "'poe<true': only number attributes can be compared with <"),
        ("colour>=red", "'colour>=red': only number attributes can be compared with >="),
    ],
)
def test_an_invalid_filter_is_quoted_in_the_error(where: str, problem: str) -> None:
    with pytest.raises(DomainError) as raised:
        index({"ports": "4"}).find(["ports=4", where])
    assert raised.value.kind is Kind.INVALID
    assert raised.value.message.startswith(f"attribute: {problem}")


SIGNS: dict[str, Callable[[Decimal, Decimal], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
NUMBERS = st.sampled_from(["-1", "0", "0.5", "0.50", ".5", "1", "1.0", "2", "10", "007"])
COLOURS = st.sampled_from(["red", "Red", "RED", "blue", "ÄRGER", "ärger", "straße", "STRASSE"])
PRODUCTS = st.lists(st.fixed_dictionaries({}, optional={"ports": NUMBERS, "colour": COLOURS}), max_size=6)
FILTERS = st.lists(
    st.tuples(st.sampled_from(["ports", "PORTS", "ports, TOTAL"]), st.sampled_from(list(SIGNS)), NUMBERS)
    | st.tuples(st.sampled_from(["colour", "COLOUR"]), st.just("="), COLOURS),
    max_size=4,
)


def passes(attributes: dict[str, str], filters: list[tuple[str, str, str]]) -> bool:
    """Several `=` on one attribute are alternatives; all other filters must match."""
    alternatives: dict[str, list[bool]] = {}
    for name, sign, value in filters:
        key = "colour" if name.lower() == "colour" else "ports"
        if key not in attributes:
            return False
        if key == "colour":
            holds = attributes[key].casefold() == value.casefold()
        else:
            holds = SIGNS[sign](Decimal(attributes[key]), Decimal(value))
        if sign == "=":
            alternatives.setdefault(key, []).append(holds)
        elif not holds:
            return False
    return all(map(any, alternatives.values()))


@pytest.mark.spec("4 GET /product", "attribute: names, operators by type, values")
@settings(max_examples=150, derandomize=True, deadline=None)
@given(products=PRODUCTS, filters=FILTERS)
def test_the_index_and_a_comparison_of_every_product_find_the_same_rows(
    products: list[dict[str, str]], filters: list[tuple[str, str, str]]
) -> None:
    found = index(*products).find(["".join(parts) for parts in filters])
    expected = [row for row, attributes in enumerate(products) if passes(attributes, filters)]
    assert (list(range(len(products))) if found is None else list(found)) == expected
