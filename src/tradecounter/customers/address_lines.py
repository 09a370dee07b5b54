"""Formats addresses for invoices and mails."""

import pycountry

from tradecounter.customers.wire import AddressDetails


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
