"""The fields of an address in a form."""

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from tradecounter.customers.wire import CustomerAddress


class TypedAddress(Struct, omit_defaults=True):
    """The fields of an address as typed; `read_address` checks them."""

    contact_name: str | None = None
    company_name: str | None = None
    street_one: str | None = None
    street_two: str | None = None
    street_three: str | None = None
    city: str | None = None
    state: str | None = None
    zip: str | None = None
    country_code: str | None = None
    contact_number: str | None = None
    tax_number: str | None = None


class AddressField(Struct, frozen=True):
    """A field of an address; what is `needed` is marked."""

    name: str
    label: str
    needed: bool = False
    value: str = ""


_FIELDS = (
    AddressField("contact_name", "Recipient", needed=True),
    AddressField("company_name", "Company"),
    AddressField("street_one", "Street", needed=True),
    AddressField("street_two", "Second line"),
    AddressField("street_three", "Third line"),
    AddressField("city", "Town", needed=True),
    AddressField("state", "County"),
    AddressField("zip", "Postcode", needed=True),
    AddressField("country_code", "Country code", needed=True),
    AddressField("contact_number", "Phone for the courier"),
    AddressField("tax_number", "Tax number"),
)


def address_fields(address: CustomerAddress) -> list[AddressField]:
    """Return the fields of an address with its values."""
    values: Mapping[str, str | None] = msgspec.structs.asdict(address)
    return [AddressField(each.name, each.label, each.needed, values.get(each.name) or "") for each in _FIELDS]
