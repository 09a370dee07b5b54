"""Every rule of the specification is proved by tests that there are (`tests/support/sections/`)."""

import ast
from functools import cache
from pathlib import Path

import pytest

from support.interface import interface_document
from support.sections import OUTLINE, TABLE

TESTS = Path(__file__).parents[1]


@cache
def names_in(place: str) -> set[str]:
    """The tests of a file, by name."""
    folder, _, name = place.rpartition("/")
    file = TESTS / folder / f"test_{name}.py"
    if not file.exists():
        return set()
    return {node.name for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef)}


def exists(test: str) -> bool:
    place, _, name = test.partition("::")
    return f"test_{name}" in names_in(place)


# Endpoints that the specification does not have.
ADDITIONS = {"GET /quote/{confirmation_code}"}


def test_the_table_has_the_sections_of_the_specification() -> None:
    assert len(set(OUTLINE)) == len(OUTLINE)
    assert set(TABLE) == set(OUTLINE)
    assert all(TABLE.values())


@pytest.mark.parametrize("section", sorted(TABLE))
def test_every_rule_is_proved_by_tests_that_there_are(section: str) -> None:
    for rule, tests in TABLE[section].items():
        assert tests, f"{section}: {rule}: no test"
        assert [test for test in tests if not exists(test)] == [], f"{section}: {rule}"


def test_every_endpoint_of_the_outline_is_in_the_document() -> None:
    documented = {
        f"{method.upper()} {path}" for path, methods in interface_document()["paths"].items() for method in methods
    }
    named = {
        endpoint for section in TABLE if section.startswith("4 ") for endpoint in section.removeprefix("4 ").split(", ")
    }
    assert named | ADDITIONS == documented


def test_no_operation_waits_for_a_third_party() -> None:
    for methods in interface_document()["paths"].values():
        for operation in methods.values():
            assert "504" not in operation["responses"]


def test_the_document_gives_no_fixed_set_of_order_states() -> None:
    status = interface_document()["components"]["schemas"]["Order"]["properties"]["status"]
    assert "enum" not in status
    assert "new values" in status["description"]
