"""The rules of addresses, for random strings."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradecounter.customers.address_rules import check_address, check_country
from tradecounter.customers.wire import AddressDetails
from tradecounter.kit.errors import DomainError, Kind

numbers = st.text(max_size=40) | st.text(alphabet="+0123456789 -()./;=xext#*", max_size=40)
countries = st.sampled_from(["GB", "JE", "GG", "IM", "IE", "DE", "US", "KZ", "AQ"])


def address(**values: str) -> AddressDetails:
    return AddressDetails(
        **{
            "contact_name": "Ada Example",
            "street_one": "1 Test Street",
            "city": "Leeds",
            "zip": "LS1 1AA",
            "country_code": "GB",
            **values,
        }
    )


def error_of(check: Callable[..., None], *arguments: object) -> str | None:
    """Return the message of the error that a check raises, or None."""
    try:
        check(*arguments)
    except DomainError as error:
        return error.message if error.kind is Kind.INVALID else repr(error)
    return None


@pytest.mark.sweep
@settings(max_examples=400, deadline=None, derandomize=True)
@given(numbers, countries)
def test_any_phone_number_is_accepted_or_rejected_with_the_field_name(number: str, country: str) -> None:
    found = error_of(check_address, address(contact_number=number, country_code=country), "billing_address")
    assert found is None or found.startswith("billing_address.contact_number: ")


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.text(min_size=2, max_size=2) | st.text(alphabet="ABGKMRUkgb\u0131\u017f\u212a\u0130", min_size=2, max_size=2))
def test_a_country_code_is_two_capital_ascii_letters(code: str) -> None:
    found = error_of(check_country, code, "country_code")
    if found is None:
        assert code.isascii()
        assert code.isalpha()
        assert code == code.upper()
    else:
        assert found.startswith("country_code: ")
        hint = found.partition("; use ")[2]
        assert not hint or error_of(check_country, hint, "country_code") is None


@pytest.mark.parametrize("field", ["contact_name", "street_one", "city", "zip", "country_code"])
@pytest.mark.parametrize("blank", [" ", "\t", "\u00a0\u2003", "\n"])
def test_blank_counts_as_missing(field: str, blank: str) -> None:
    with pytest.raises(DomainError, match=f"^{field}: must not be blank$"):
        check_address(address(**{field: blank * 2}))


def test_the_message_begins_with_the_place_in_the_body() -> None:
    with pytest.raises(DomainError, match=r"^addresses\[3\]\.city: must not be blank$"):
        check_address(address(city=" "), "addresses[3]")
