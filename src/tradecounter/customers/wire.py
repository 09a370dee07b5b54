"""The requests and responses of accounts, with examples (specification, section 2)."""

from decimal import Decimal
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from tradecounter.kit.email_addresses import EMAIL_PATTERN, LONGEST_EMAIL
from tradecounter.kit.wire import Amount, RequiredText

ShortText = Annotated[str, Meta(max_length=200)]
FortyCharacters = Annotated[str, Meta(max_length=40)]
Email = Annotated[str, Meta(max_length=LONGEST_EMAIL, pattern=EMAIL_PATTERN)]


class CustomerCreditTerms(Struct):
    """The account's credit limit and term."""

    credit_limit: Annotated[Amount, Meta(description="The most that the account may owe, in pounds.")]
    term_days: Annotated[int, Meta(description="Days from the invoice to its due date.")]


class Customer(Struct, omit_defaults=True):
    """The account of the calling customer."""

    first_name: Annotated[str, Meta(description="The contact person's first name.")]
    last_name: Annotated[str, Meta(description="The contact person's last name.")]
    email_address: Annotated[str, Meta(description="The login address.")]
    trade_account: Annotated[bool, Meta(description="Whether the account is shown expected deliveries.")]
    credit_terms: Annotated[
        CustomerCreditTerms | None, Meta(description="null for an account without credit, which cannot order.")
    ]
    accounts_email: Annotated[str | None, Meta(description="Receives copies of invoices.")] = None


class AddressDetails(Struct, omit_defaults=True):
    """An address to bill or to ship to, as sent."""

    contact_name: Annotated[RequiredText, Meta(description="The recipient.")]
    street_one: Annotated[RequiredText, Meta(description="The first line: house number and street.")]
    city: Annotated[RequiredText, Meta(description="The post town.")]
    zip: Annotated[str, Meta(min_length=1, max_length=20, description="The postal code.")]
    country_code: Annotated[
        str,
        Meta(
            min_length=2,
            max_length=2,
            description="ISO 3166-1 alpha-2: GB, IM, JE, GG, IE … A wrong code, such as GB for the Isle of Man, gives "
            "wrong shipping options, and support may cancel the order.",
            examples=["GB"],
        ),
    ]
    company_name: Annotated[ShortText | None, Meta(description="The recipient's company.")] = None
    street_two: Annotated[ShortText | None, Meta(description="The second line.")] = None
    street_three: Annotated[ShortText | None, Meta(description="The third line.")] = None
    state: Annotated[ShortText | None, Meta(description="The county.")] = None
    contact_number: Annotated[
        FortyCharacters | None, Meta(description="For the courier. Outside GB, JE, GG and IM, in international format.")
    ] = None
    tax_number: Annotated[FortyCharacters | None, Meta(description="The recipient's tax number.")] = None

    def __post_init__(self) -> None:
        """Change the country code to capitals."""
        if self.country_code.isascii():
            self.country_code = self.country_code.upper()


class CustomerAddress(AddressDetails, omit_defaults=True):
    """An address that an order is billed or shipped to."""

    id: Annotated[int | None, Meta(description="The saved address's id; absent if the order had the full address.")] = (
        None
    )


class SavedAddress(AddressDetails, omit_defaults=True, kw_only=True):
    """A saved address."""

    id: Annotated[int, Meta(description='Use it in an order: `{"id": 5001}`.')]


ADDRESS_DETAILS = AddressDetails(
    contact_name="Sam Fitter",
    company_name="Harbourline Communications",
    street_one="1 Site Road",
    city="Leeds",
    state="West Yorkshire",
    zip="LS1 4AP",
    country_code="GB",
    contact_number="0113 496 0000",
)
CUSTOMER_ADDRESS = CustomerAddress(**msgspec.structs.asdict(ADDRESS_DETAILS), id=5001)
SAVED_ADDRESS = SavedAddress(**msgspec.structs.asdict(ADDRESS_DETAILS), id=5001)
CUSTOMER = Customer(
    first_name="Ada",
    last_name="Buyer",
    email_address="buyer@harbourline.example",
    trade_account=True,
    credit_terms=CustomerCreditTerms(Decimal("5000.00"), 30),
    accounts_email="accounts@harbourline.example",
)
