"""Barcodes: the widths of the bars, read back by the definition of Code 128."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tradecounter.shipments.print_papers import bar_widths

PRINTABLE = st.text(alphabet=[chr(code) for code in range(32, 127)], min_size=1, max_size=40)


def symbols(widths: list[int]) -> list[str]:
    return ["".join(map(str, widths[start : start + 6])) for start in range(0, len(widths) - 1, 6)]


def test_a_known_barcode_is_drawn_as_in_the_standard() -> None:
    widths = bar_widths("A")
    assert widths is not None
    # Start B, A (value 33), the check symbol (104 + 33) % 103 = 34, and the stop pattern.
    assert "".join(map(str, widths)) == "211214" + "111323" + "131123" + "2331112"


@settings(max_examples=200, deadline=None, derandomize=True)
@given(PRINTABLE)
def test_any_printable_text_has_symbols_of_eleven_modules_and_a_check_symbol(text: str) -> None:
    widths = bar_widths(text)
    assert widths is not None
    assert len(widths) == 6 * (len(text) + 3) + 1
    assert sum(widths) == 11 * (len(text) + 3) + 2
    values = {"".join(map(str, bar_widths(chr(code))[6:12])): code - 32 for code in range(32, 127)}  # type: ignore[index]
    read = symbols(widths)
    assert "".join(chr(values[symbol] + 32) for symbol in read[1:-2]) == text
    check = (104 + sum(place * values[symbol] for place, symbol in enumerate(read[1:-2], start=1))) % 103
    assert check > 94 or values[read[-2]] == check


def test_other_text_has_no_barcode() -> None:
    assert bar_widths("") is None
    assert bar_widths("ÖRD-1") is None
    assert bar_widths("ORD\n1") is None
