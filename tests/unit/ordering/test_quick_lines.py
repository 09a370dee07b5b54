"""Lines of SKU and quantity, as people paste them."""

import pytest

from tradecounter.kit.errors import DomainError
from tradecounter.orders.create.quick_lines import numbered_quick_lines, require_good_lines


def pairs(text: str) -> list[tuple[str, int]]:
    lines, bad = numbered_quick_lines(text)
    require_good_lines(bad)
    return [(line.sku, line.units) for line in lines]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("PHONE 2", [("PHONE", 2)]),
        ("PHONE\t2\r\nCABLE\t1000", [("PHONE", 2), ("CABLE", 1000)]),
        ("sep=;\nSKU;Qty\nPHONE;2", [("PHONE", 2)]),
        ('SKU,Note,Qty\n="0417723","two\nlines",2', [("0417723", 2)]),
        ("Product,SKU,Qty\nA phone,PHONE,2", [("PHONE", 2)]),
        ('PHONE,"1,000"', [("PHONE", 1000)]),
        ("PHONE,2,", [("PHONE", 2)]),
        ("PHONE,2\n\n  \nCABLE;3", [("PHONE", 2), ("CABLE", 3)]),
        ("2 x PHONE\n10 \u00d7 BIG SWITCH", [("PHONE", 2), ("BIG SWITCH", 10)]),
        ("PHONE x 2\nBIG SWITCH x10\nCABLE X3", [("PHONE", 2), ("BIG SWITCH", 10), ("CABLE", 3)]),
        ("BIG SWITCH 4", [("BIG SWITCH", 4)]),
        ('"A, B",7', [("A, B", 7)]),
        ("SKU,Quantity\nPHONE,2", [("PHONE", 2)]),
        ("Description\tQty\tProduct code\nA desk phone\t3\tPHONE", [("PHONE", 3)]),
        ("PHONE", [("PHONE", 1)]),
        ("PHONE,", [("PHONE", 1)]),
        ("", []),
    ],
)
def test_lines_are_read_in_the_ways_that_people_write_them(text: str, found: list[tuple[str, int]]) -> None:
    assert pairs(text) == found


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("PHONE 2\nCABLE many,x", "line 2 'CABLE many,x' must end with a whole number of units"),
        ("PHONE 0", "line 1 'PHONE 0' must have 1 to 100,000 units"),
        ("PHONE,-2", "line 1"),
        ("PHONE,1,000", "line 1 'PHONE,1,000' has 3 cells, and only 2 have a heading"),
        ("PHONE;2;x", "line 1 'PHONE;2;x' has 3 cells"),
        ("SKU,Description,Qty\nPHONE,A phone,1,000", "line 2 'PHONE,A phone,1,000' has 4 cells, and only 3"),
        ("PHONE;1,5", "'1,5' is not a whole number"),
        ("PHONE\t1,000", "may be a decimal comma"),
        ("PHONE 1_0", "'1_0' is not a whole number"),
        ("PHONE;1.0", "'1.0' is not a whole number"),
        ("PHONE \u0662", "'\u0662' is not a whole number"),
        ('"PHONE,2\nCABLE,3', "line 1 cannot be read: not CSV"),
        ('SKU,Qty\nPHONE,2\n"CABLE,3\nPHONE,4', "line 3 cannot be read: not CSV"),
        ('"A"B,2', "line 1 cannot be read: not CSV"),
        ("sku,qty,qty\nPHONE,1,2", "line 1 has two columns for the quantity: 'qty' and 'qty'"),
        ("sku,number,qty\nPHONE,1,2", "line 1 has two columns for the quantity: 'number' and 'qty'"),
        ("sku,sku,qty\nPHONE,CABLE,2", "line 1 has two columns for the SKU"),
        ("#N/A,2", "line 1"),
        (",2", "line 1 ',2' has no SKU"),
        ("\n".join(["PHONE 1"] * 501), "line 501 is one too many: an order has at most 500 lines"),
    ],
)
def test_lines_that_cannot_be_read_are_named(text: str, problem: str) -> None:
    with pytest.raises(DomainError) as caught:
        pairs(text)
    assert problem in caught.value.message
    assert [error.field for error in caught.value.field_errors] == ["lines"]


def test_many_wrong_lines_are_summed_up() -> None:
    with pytest.raises(DomainError, match="and 5 more"):
        pairs("\n".join(["PHONE,x"] * 15))


@pytest.mark.parametrize("line", ["PHONE", "PHONE,1,2", "x"])
def test_of_a_text_without_end_only_the_first_lines_are_read(line: str) -> None:
    lines, bad = numbered_quick_lines(f"{line}\n" * 200_000)
    assert len(lines) + len(bad) <= 5_002
    assert "line 5001 and those after it are left out: a list is read up to line 5,000" in map(str, bad)
