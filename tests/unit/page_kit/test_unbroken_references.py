"""References stay on one line: browsers would break them at a hyphen."""

import pytest

from tradecounter.edge.page_kit.values import unbroken


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("PO-41684", '<span><span class="unbroken">PO-41684</span></span>'),
        ("INV 10143 for PO-7", '<span>INV 10143 for <span class="unbroken">PO-7</span></span>'),
        ("<b>-1", '<span><span class="unbroken">&lt;b&gt;-1</span></span>'),
        ("<b> a-1", '<span>&lt;b&gt; <span class="unbroken">a-1</span></span>'),
        ("ACME-LTD-FOR-THE-NEW-OFFICE", "<span>ACME-LTD-FOR-THE-NEW-OFFICE</span>"),
        ("10143", "10143"),
        (10143, "10143"),
        (None, "None"),
    ],
)
def test_short_words_with_hyphens_do_not_break(text: object, shown: str) -> None:
    assert str(unbroken(text)) == shown
