"""Names of fields are shown to people as words; rows count from 1."""

import pytest

from tradecounter.edge.page_kit.values import label


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("customer_reference", "Customer reference"),
        ("items-0-quantity", "Items 1 quantity"),
        ("CV-\N{SUPERSCRIPT TWO}-W (7)", "Cv \N{SUPERSCRIPT TWO} w (7)"),  # of an audit entry, with a SKU
    ],
)
def test_a_name_is_shown_in_words(name: str, shown: str) -> None:
    assert label(name) == shown
