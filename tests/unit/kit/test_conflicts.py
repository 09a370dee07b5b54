"""Errors of several fields."""

import pytest

from tradecounter.kit.errors import Code, FieldError, conflicts


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
