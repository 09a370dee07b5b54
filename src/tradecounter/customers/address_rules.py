"""What makes an address acceptable (specification, section 2; decisions, addresses)."""

from functools import lru_cache

import phonenumbers
import pycountry

from tradecounter.customers.wire import AddressDetails
from tradecounter.kit.errors import invalid

_REQUIRED = ("contact_name", "street_one", "city", "zip", "country_code")
_LOCAL_NUMBERS = {"GB", "JE", "GG", "IM"}
_HINTS = {"UK": "GB", "EN": "GB", "EL": "GR"}


def check_address(address: AddressDetails, field: str = "") -> None:
    """Raise DomainError (invalid) naming the member at fault; `field` is where the address stands in the body."""
    prefix = f"{field}." if field else ""
    for name in _REQUIRED:
        if not getattr(address, name).strip():
            raise invalid(prefix + name, "must not be blank")
    check_country(address.country_code, prefix + "country_code")
    if address.contact_number:
        _check_phone(address.contact_number, address.country_code, prefix + "contact_number")


def check_country(code: str, field: str) -> None:
    """Raise DomainError (invalid) unless the code is ISO 3166-1 alpha-2, in capitals."""
    # The list of countries is asked without case, where U+212A (the Kelvin sign) is a K: only ASCII can be right.
    if code.isascii() and code.isupper() and pycountry.countries.get(alpha_2=code) is not None:
        return
    better = _HINTS.get(code.upper())
    if better is None and code.isascii() and pycountry.countries.get(alpha_2=code.upper()) is not None:
        better = code.upper()
    hint = f"; use {better}" if better else ""
    raise invalid(field, f"{code!r} is not an ISO 3166-1 alpha-2 country code{hint}")


def _check_phone(number: str, country: str, field: str) -> None:
    problem = _phone_problem(number, country if country in _LOCAL_NUMBERS else None)
    if problem is not None:
        raise invalid(field, f"{number!r} is not {problem}")


# Taking a number apart costs more than anything else in an order's request, and a site's number comes again and again.
@lru_cache(maxsize=10_000)
def _phone_problem(number: str, region: str | None) -> str | None:
    """Return what a number is not, or None when it is fine."""
    try:
        parsed = phonenumbers.parse(number, region)
    except phonenumbers.NumberParseException:
        return "a phone number" if region else "a phone number in international format, such as +353 1 234 5678"
    return None if phonenumbers.is_possible_number(parsed) else "a possible phone number"
