"""Examples of the account's resources, for the interface document."""

from decimal import Decimal

import msgspec

from tradecounter.customers.wire import AddressDetails, Customer, CustomerAddress, CustomerCreditTerms, SavedAddress

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
