"""A long list or query is not looked into to its end: every other request would wait meanwhile."""

import pytest

from tradecounter.edge.rest.parameters import unknown_fields, unknown_parameters
from tradecounter.identity.credentials import ApiKey, MissingCredentialError, read_credential
from tradecounter.kit.errors import DomainError
from tradecounter.kit.json_text import read_json
from tradecounter.kit.validation_messages import field_errors_of
from tradecounter.orders.wire import CreateOrderRequest
from tradecounter.shipments.wire import AddConfigurationsRequest


def test_the_first_thousand_elements_are_looked_into() -> None:
    found = [error.field for error in field_errors_of({"configurations": [0] * 5_000}, AddConfigurationsRequest)]
    assert found == [f"configurations[{number}]" for number in range(1_000)]


def test_a_list_that_is_too_long_is_still_said_to_be() -> None:
    found = [str(error) for error in field_errors_of({"items": [0] * 5_000}, CreateOrderRequest)]
    assert "items: must have at most 500 elements" in found


def test_a_fault_further_behind_is_named_when_there_is_no_other() -> None:
    good = b'{"adsl_username": "a", "adsl_password": "b"}'
    body = b'{"configurations": [' + b",".join([good] * 2_000) + b", 0, 1]}"
    with pytest.raises(DomainError, match=r"configurations\[2000\]: must be an object") as raised:
        read_json(body, AddConfigurationsRequest)
    assert raised.value.kind.name == "INVALID"


def test_unknown_fields_are_looked_for_in_the_first_thousand_elements() -> None:
    items = [{"sku": "PHONE", "qty": 1}] * 5_000
    assert len(list(unknown_fields({"items": items}, CreateOrderRequest))) == 1_000


def test_unknown_parameters_are_looked_for_among_the_first_thousand() -> None:
    query = "&".join(f"x{number}" for number in range(5_000))
    assert len(unknown_parameters(query, None)) == 1_000


def test_a_key_is_looked_for_among_the_first_thousand_parameters() -> None:
    key = f"api-key={'a' * 64}"
    assert isinstance(read_credential([], [], "x&" * 999 + key), ApiKey)
    with pytest.raises(MissingCredentialError):
        read_credential([], [], "x&" * 1_000 + key)
