"""Errors of several fields."""

import pytest

from tradecounter.kit.errors import Code, DomainError, FieldError, Kind, conflicts, in_only_item, named_by


@pytest.mark.parametrize(
    ("codes", "code"),
    [
        ([Code.INVALID, Code.INVALID], Code.CONFLICT),
        ([Code.OUT_OF_STOCK, Code.OUT_OF_STOCK], Code.OUT_OF_STOCK),
        ([Code.OUT_OF_STOCK, Code.PRICE_CHANGED], Code.CONFLICT),
    ],
)
def test_a_conflict_has_the_code_that_all_its_fields_have(codes: list[Code], code: Code) -> None:
    assert conflicts([FieldError("items", "is wrong", each) for each in codes]).code is code


def test_the_message_of_a_conflict_names_twenty_fields() -> None:
    message = conflicts([FieldError(f"items[{n}]", "is wrong") for n in range(23)]).message
    assert message.endswith("items[19]: is wrong; and 3 more")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (conflicts([FieldError("items[0].set", "is too few")]), "set: is too few"),
        (DomainError(Kind.CONFLICT, "sold out", field_errors=[FieldError("items[0].set", "is too few")]), "sold out"),
    ],
)
def test_the_message_of_a_conflict_calls_its_fields_what_they_are_called(error: DomainError, message: str) -> None:
    with pytest.raises(DomainError) as raised, named_by(in_only_item):
        raise error
    assert (raised.value.message, raised.value.field_errors[0].field) == (message, "set")
