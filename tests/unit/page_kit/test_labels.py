"""Names of fields and actions are shown to people as words; rows count from 1."""

import pytest

from tradecounter.edge.page_kit.values import action, label


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


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("credit_note.issue", "Credit note: issued"),
        ("remittance.tell", "Remittance: told"),
        ("shipment.take_back", "Shipment: taken back"),
        ("user.change_role", "User: role changed"),
    ],
)
def test_an_action_of_the_audit_log_is_shown_as_done(name: str, shown: str) -> None:
    assert action(name) == shown
