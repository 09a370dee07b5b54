"""Validates addresses, and writes them in lines (specification, section 2; addresses)."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec
import phonenumbers
import pycountry

from tradecounter.customers.wire import AddressDetails
from tradecounter.kit.errors import DomainError, FieldError, invalid, invalid_fields
from tradecounter.kit.json_text import decode_json, read_json
from tradecounter.kit.text import is_blank
from tradecounter.kit.validation_messages import field_errors_of

_REQUIRED = ("contact_name", "street_one", "city", "zip", "country_code")
_LOCAL_NUMBERS = {"GB", "JE", "GG", "IM"}
_HINTS = {"UK": "GB", "EN": "GB", "EL": "GR"}


def read_address(raw: bytes | msgspec.Raw, field: str = "") -> AddressDetails:
    """Return an address that a client sent. Raises DomainError (invalid) with all errors.

    `field` is the address's place in the body. A field of the wrong type does not stop the checks of the others.
    """
    try:
        address = read_json(raw, AddressDetails, field)
    except DomainError as error:
        members = decode_json(raw) if error.field_errors else None
        if not isinstance(members, dict):
            raise
        raise invalid_fields(address_errors(members, field)) from error
    check_address(address, field)
    return address


def check_address(address: AddressDetails, field: str = "") -> None:
    """Raise DomainError (invalid) with all errors; `field` is the address's place in the body."""
    if errors := list(_broken_rules(msgspec.structs.asdict(address), field)):
        raise invalid_fields(errors)


def address_errors(members: Mapping[str, Any], field: str) -> list[FieldError]:
    """Return all errors of an address decoded from JSON; `field` is its place in the body."""
    errors = list(field_errors_of(members, AddressDetails, field))
    wrong = {error.field for error in errors}
    prefix = f"{field}." if field else ""
    well_typed = {name: value for name, value in members.items() if prefix + name not in wrong}
    return [*errors, *_broken_rules(well_typed, field)]


def _broken_rules(members: Mapping[str, Any], field: str) -> Iterator[FieldError]:
    """Yield the errors of members that are strings or null; required ones may be missing."""
    prefix = f"{field}." if field else ""
    texts = {name: value for name, value in members.items() if isinstance(value, str)}
    for name in _REQUIRED:
        if name in texts and is_blank(texts[name]):
            yield FieldError(prefix + name, "must not be blank")
    country = texts.get("country_code", "")
    if not is_blank(country):
        if (problem := _country_problem(country.upper() if country.isascii() else country)) is not None:
            yield FieldError(prefix + "country_code", problem)
        elif number := texts.get("contact_number"):
            problem = _phone_problem(number, country.upper() if country.upper() in _LOCAL_NUMBERS else None)
            if problem is not None:
                yield FieldError(prefix + "contact_number", f"{number!r} is not {problem}")


def check_country(code: str, field: str) -> None:
    """Raise DomainError (invalid) unless the code is ISO 3166-1 alpha-2, in capitals."""
    if (problem := _country_problem(code)) is not None:
        raise invalid(field, problem)


def _country_problem(code: str) -> str | None:
    """Return why a string is not a country code, or None for a valid code."""
    # The look-up ignores case and takes U+212A (the Kelvin sign) for a K, so the code must be ASCII.
    if code.isascii() and code.isupper() and pycountry.countries.get(alpha_2=code) is not None:
        return None
    better = _HINTS.get(code.upper())
    if better is None and code.isascii() and pycountry.countries.get(alpha_2=code.upper()) is not None:
        better = code.upper()
    hint = f"; use {better}" if better else ""
    return f"{code!r} is not an ISO 3166-1 alpha-2 country code{hint}"


# Parsing a number is the slowest part of an order's request, and requests repeat numbers.
@lru_cache(maxsize=10_000)
def _phone_problem(number: str, region: str | None) -> str | None:
    """Return which kind of number is expected, or None when the number is valid."""
    try:
        parsed = phonenumbers.parse(number, region)
    except phonenumbers.NumberParseException:
        return "a phone number" if region else "a phone number in international format, such as +353 1 234 5678"
    return None if phonenumbers.is_possible_number(parsed) else "a possible phone number"


def address_lines(address: AddressDetails) -> list[str]:
    """Return the lines of an address, from the recipient to the name of the country."""
    country = pycountry.countries.get(alpha_2=address.country_code)
    lines = [
        address.company_name,
        address.contact_name,
        address.street_one,
        address.street_two,
        address.street_three,
        address.city,
        address.state,
        address.zip,
        address.country_code if country is None else country.name,
    ]
    return [line for line in lines if line]
