"""Every section of the specification has rules that tests prove (`tests/support/specification.py`)."""

from pathlib import Path

import pytest

from support.interface import interface_document
from support.specification import SECTIONS, marked_rules, marks_in, specification_table
from tradecounter.edge.openapi.core import CORE

TABLE = Path(__file__).parents[2] / "docs" / "specification-table.md"

MARKED = """
class TestOrders:
    @pytest.mark.spec("2 Order", "it has a total")
    @pytest.mark.parametrize("total", [1, 2])
    def test_total(self, total): ...
"""


def test_every_section_has_rules() -> None:
    assert [section for section, rules in marked_rules().items() if not rules] == []


def test_the_committed_table_is_up_to_date() -> None:
    assert TABLE.read_text() == specification_table(), "docs/specification-table.md is out of date: run `make docs`"


def test_marks_are_read_from_tests_in_classes() -> None:
    assert list(marks_in(MARKED)) == [("TestOrders::test_total", "2 Order", "it has a total")]


def test_a_mark_that_is_not_on_a_test_is_rejected() -> None:
    with pytest.raises(ValueError, match="not on a test"):
        list(marks_in(MARKED.replace("test_total", "total")))


def test_every_operation_of_the_core_has_a_section() -> None:
    named = {
        endpoint
        for section in SECTIONS
        if section.startswith("4 ")
        for endpoint in section.removeprefix("4 ").split(", ")
    }
    assert named - {"GET /ready"} == set(CORE.operations)


def test_no_operation_announces_a_504() -> None:
    for methods in interface_document()["paths"].values():
        for operation in methods.values():
            assert "504" not in operation["responses"]


@pytest.mark.spec("9 Versioning", "the order status is open-ended")
def test_the_document_gives_no_fixed_set_of_order_states() -> None:
    status = interface_document()["components"]["schemas"]["Order"]["properties"]["status"]
    assert "enum" not in status
    assert "new values" in status["description"]
