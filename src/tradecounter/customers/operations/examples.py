"""Examples of customers, their keys, users and addresses, for the back office's interface document."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal

from msgspec.structs import asdict

from tradecounter.access.users import UserChange
from tradecounter.customers.operations.wire import (
    CreatedKey,
    CustomerCredit,
    CustomerRequest,
    Key,
    ResellerCustomer,
    User,
    UserRequest,
)
from tradecounter.customers.settings import EXAMPLE, CustomerChange
from tradecounter.customers.wire import ADDRESS_DETAILS, SAVED_ADDRESS, AddressDetails, SavedAddress
from tradecounter.edge.operations.subject import Described
from tradecounter.identity.manage_keys import KeyRequest
from tradecounter.kit.wire import ReasonRequest

_AT = EXAMPLE.created_at
_LATER = datetime(2031, 6, 16, tzinfo=UTC)
_CREDIT = CustomerCredit(
    credit_limit=Decimal("5000.00"),
    total_outstanding=Decimal("558.38"),
    available_credit=Decimal("4441.62"),
    overdue=Decimal("0.00"),
    unallocated=Decimal("0.00"),
)
_CUSTOMER = ResellerCustomer(**asdict(EXAMPLE), credit=_CREDIT)

_NEW_CUSTOMER = CustomerRequest(
    email_address="buyer@harbourline.example",
    first_name="Ada",
    last_name="Buyer",
    company="Harbourline Communications",
    credit_limit=Decimal("5000.00"),
    term_days=30,
)


DESCRIBED: Mapping[type, Described] = {
    ResellerCustomer: Described("The customer.", _CUSTOMER, "Customer"),
    CustomerRequest: Described("", _NEW_CUSTOMER),
    CustomerChange: Described("", CustomerChange(credit_limit=Decimal("7500.00"), term_days=30)),
    ReasonRequest: Described("", ReasonRequest("Invoices are over 90 days late."), "Blocking"),
    Key: Described(
        "The key.",
        Key(
            id=7,
            name="ERP",
            prefix="3f9a1c20",
            scopes=["read", "order"],
            networks=["203.0.113.0/24"],
            created_at=_AT,
            expires_at=_LATER,
            last_used_at=_AT,
            disabled_at=None,
        ),
    ),
    KeyRequest: Described(
        "", KeyRequest(name="ERP", scopes=["read", "order"], expires_at=_LATER, networks=["203.0.113.0/24"])
    ),
    CreatedKey: Described(
        "The key, which is shown only now.",
        CreatedKey(
            id=7,
            name="ERP",
            prefix="3f9a1c20",
            key="3f9a1c20" * 8,
            created_at=_AT,
            scopes=["read", "order"],
            expires_at=_LATER,
            networks=["203.0.113.0/24"],
        ),
    ),
    User: Described(
        "The user.",
        User(
            id=12,
            email="sam@harbourline.example",
            name="",
            role="buyer",
            roles=["buyer"],
            order_limit=None,
            has_password=False,
            created_at=_AT,
            disabled_at=None,
        ),
    ),
    UserRequest: Described("", UserRequest("sam@harbourline.example", "buyer")),
    UserChange: Described("", UserChange(["buyer"], Decimal("500.00")), "Rights"),
    SavedAddress: Described("The address.", SAVED_ADDRESS),
    AddressDetails: Described("", ADDRESS_DETAILS),
}
