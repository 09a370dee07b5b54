"""`GET /customer`, and `/customer/address` with GET, POST, PUT and DELETE."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import Struct

from tradecounter.customers.address_rules import check_address, read_address
from tradecounter.customers.change_account import change_address, remove_address, save_address
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.queries.addresses import list_addresses
from tradecounter.customers.settings import Account
from tradecounter.customers.wire import (
    ADDRESS_DETAILS,
    CUSTOMER,
    SAVED_ADDRESS,
    AddressDetails,
    Customer,
    CustomerCreditTerms,
    SavedAddress,
)
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Desk
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import Link, Sample
from tradecounter.kit.wire import made_from

_DESCRIBED: Mapping[type, Described] = {
    Customer: Described("The account.", CUSTOMER),
    AddressDetails: Described("", ADDRESS_DETAILS),
    SavedAddress: Described("The address as it is now.", SAVED_ADDRESS),
}
_ACCOUNT = Subject(tag="Account", keys=("account",), described=_DESCRIBED)
_BOOK, _ONE = "/customer/address", "/customer/address/{id}"

AddressId = Annotated[int, InPath("id", "The id of the saved address.", 5003, "address")]


def _links(does: str) -> tuple[Link, Link]:
    return (
        Link("createAddress", f"{does} the address, by its id.", {"id": "$response.body#/id"}),
        Link("listAddresses", f"{does} one of the addresses, by its id.", {"id": "$response.body#/0/id"}),
    )


async def check_address_body(raw: bytes) -> None:
    """Check an address that a client sends. Raises DomainError (invalid) with all errors."""
    read_address(raw)


class CustomerEndpoints(Struct, frozen=True):
    """The endpoints of the account."""

    desk: Desk

    @_ACCOUNT.shows("/customer")
    async def get_customer(self, tx: Transaction, call: Call) -> Customer:
        """Your account.

        The contact person, the credit terms, and whether it is a trade account.
        """
        return on_the_wire(await fetch_account(tx, call.customer_id))

    @_ACCOUNT.shows(_BOOK, "The active addresses.")
    async def list_addresses(self, tx: Transaction, call: Call) -> list[SavedAddress]:
        """Your address book.

        The saved addresses, oldest first. Orders can use them by `id`.
        """
        return await list_addresses(tx, call.customer_id)

    @_ACCOUNT.changes("POST", _BOOK, "The address with its new `id`.", created=True, check=check_address_body)
    async def create_address(self, tx: Transaction, now: datetime, call: Call, body: AddressDetails) -> SavedAddress:
        """Save an address.

        Every request saves a new address, even if an identical one exists.
        """
        check_address(body)
        return await save_address(tx, call.customer_id, body, now)

    @_ACCOUNT.changes(
        "PUT", _ONE, check=check_address_body, links=_links("Replaces"), sample=Sample(after="createAddress")
    )
    async def replace_address(
        self, tx: Transaction, now: datetime, call: Call, address_id: AddressId, body: AddressDetails
    ) -> SavedAddress:
        """Replace an address.

        The address keeps its `id`. Orders, also pending ones, keep their own copies of the old one.
        """
        check_address(body)
        return await change_address(tx, call.customer_id, address_id, body, now)

    @_ACCOUNT.changes(
        "DELETE", _ONE, "The address is deleted.", links=_links("Deletes"), sample=Sample(after="createAddress")
    )
    async def delete_address(self, tx: Transaction, now: datetime, call: Call, address_id: AddressId) -> None:
        """Delete an address.

        Orders keep their own copies of the address.
        """
        await remove_address(tx, call.customer_id, address_id, now)


def on_the_wire(account: Account) -> Customer:
    """Return an account as the resource Customer."""
    terms = None
    if account.credit_limit is not None and account.term_days is not None:
        terms = CustomerCreditTerms(account.credit_limit, account.term_days)
    return made_from(account, Customer, credit_terms=terms)
