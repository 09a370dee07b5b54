"""Tables of pages: CSV files, and the links of their headings."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from tradecounter.edge.page_kit.tables import (
    MOST_IN_A_FILE,
    Column,
    Sort,
    Table,
    csv_file,
    csv_of,
    cursor_text,
    read_cursor,
)
from tradecounter.kit.errors import DomainError

_TOTAL, _PLACED = Column("Total", "total"), Column("Placed", "placed")


def table(sort: Sort) -> Table[int]:
    return Table("/order", (_TOTAL, _PLACED), [], sort, {"status": ["Open", "Late"], "after": ["x"]})


def test_a_file_has_values_as_they_are_and_no_formulas() -> None:
    at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    file = csv_file("orders", ("what", "when", "how much", "who"), [("=1+1", at, Decimal("-5.00"), None)])
    assert bytes(file.body).decode() == "what,when,how much,who\r\n'=1+1,2026-03-01T12:00:00Z,-5.00,\r\n"
    assert file.headers["content-disposition"] == 'attachment; filename="orders.csv"'


def test_a_file_that_may_have_been_cut_says_so_in_its_name() -> None:
    rows = range(MOST_IN_A_FILE)
    whole, cut = (csv_of("orders", {"number": lambda row: row}, found) for found in (rows[1:], rows))
    assert whole.headers["content-disposition"] == 'attachment; filename="orders.csv"'
    assert cut.headers["content-disposition"] == 'attachment; filename="orders-first-10000.csv"'


def test_a_heading_sorts_by_its_column_and_then_the_other_way_round() -> None:
    shown = table(Sort("total", descending=False))
    assert shown.sort_link(_TOTAL) == "/order?status=Open&status=Late&sort=-total"
    assert shown.sort_link(_PLACED) == "/order?status=Open&status=Late&sort=placed"
    assert table(Sort("total", descending=True)).sort_link(_TOTAL) == "/order?status=Open&status=Late&sort=total"
    assert (shown.aria_sort(_TOTAL), shown.aria_sort(_PLACED)) == ("ascending", "none")


def test_a_cursor_is_read_as_it_was_written() -> None:
    at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert read_cursor(cursor_text(at, 5), datetime) == (at, 5)
    assert read_cursor(cursor_text(Decimal("1.10"), 5), Decimal) == (Decimal("1.10"), 5)


@pytest.mark.parametrize(
    "text", ["x", "%%%", cursor_text("a", 1), cursor_text(1, 10**19), cursor_text(2**63, 1), cursor_text(-(2**64), 1)]
)
def test_a_cursor_that_no_link_has_is_rejected(text: str) -> None:
    with pytest.raises(DomainError, match="after: take it from the link to the next page"):
        read_cursor(text, int)
