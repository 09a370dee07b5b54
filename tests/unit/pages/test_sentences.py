"""What the timeline of a customer and the histories of pages say of events and audit entries."""

import pytest

from tradecounter.parts.sentences import happened, phrase_of


@pytest.mark.parametrize(
    ("kind", "by", "told"),
    [
        ("order.confirmed", "Sam Staff", "Sam Staff confirmed order 5"),
        ("order.confirmed", "", "Order 5 was confirmed"),
        ("customer.changed", "", "The system changed the settings of the customer 5"),
        ("log.restored", "", "The system restored the data of the customer 5"),
    ],
)
def test_an_event_is_a_sentence_about_its_subject(kind: str, by: str, told: str) -> None:
    before, name, after = happened(kind, by, "5", {})
    assert f"{before} {name}{after}" == told


@pytest.mark.parametrize(
    ("action", "told"),
    [
        ("order.external_id", "changed the external id"),
        ("quote.external_id", "changed the external id"),
        ("order.cancel", "cancelled the order"),
        ("job.retry", "retried the job"),
    ],
)
def test_an_action_is_what_someone_did(action: str, told: str) -> None:
    assert phrase_of(action) == told
