"""`/api/customer/{id}/address`: customers' address books."""

from datetime import datetime
from typing import Annotated

from msgspec import Struct

from tradecounter.customers.address_book import remove_address, save_address
from tradecounter.customers.address_rules import check_address, read_address
from tradecounter.customers.operations.staff import CUSTOMERS, ONE_CUSTOMER, CustomerId
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.queries.addresses import list_addresses
from tradecounter.customers.wire import AddressDetails, SavedAddress
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Desk, SinceParameters
from tradecounter.edge.operations.subject import InPath

_ALL = f"{ONE_CUSTOMER}/address"

AddressId = Annotated[int, InPath("address_id", "The address's id.", 5003, "address")]


async def _check(raw: bytes) -> None:
    read_address(raw)


class AddressOperations(Struct, frozen=True):
    """The endpoints of customers' address books."""

    desk: Desk

    @CUSTOMERS.shows(_ALL, "The active addresses.")
    async def list_addresses(
        self, tx: Transaction, customer_id: CustomerId, query: SinceParameters
    ) -> list[SavedAddress]:
        """A customer's address book.

        Deleted addresses are not listed.
        """
        account = await fetch_account(tx, customer_id)
        return await list_addresses(tx, account.id, query.since)

    @CUSTOMERS.changes("POST", _ALL, location="{id}", check=_check)
    async def create_address(
        self, tx: Transaction, now: datetime, customer_id: CustomerId, body: AddressDetails
    ) -> SavedAddress:
        """Save an address."""
        check_address(body)
        await fetch_account(tx, customer_id)
        return await save_address(tx, customer_id, body, now)

    @CUSTOMERS.changes("DELETE", f"{_ALL}/{{address_id}}", "The address is deleted.")
    async def delete_address(
        self, tx: Transaction, now: datetime, customer_id: CustomerId, address_id: AddressId
    ) -> None:
        """Delete an address."""
        await remove_address(tx, customer_id, address_id, now)
