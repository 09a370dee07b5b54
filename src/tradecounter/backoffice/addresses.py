"""`/api/customer/{id}/address`: customers' address books."""

from dataclasses import dataclass
from datetime import datetime

from starlette.responses import Response

from tradecounter.backoffice import examples
from tradecounter.backoffice.customer_changes import save_address_of
from tradecounter.backoffice.customers import CUSTOMER_ID, NEW
from tradecounter.backoffice.desk import CHANGE_HEADERS, POST_HEADERS, Desk
from tradecounter.backoffice.error_responses import CONFLICT
from tradecounter.customers.address_book import remove_address
from tradecounter.customers.address_rules import read_address
from tradecounter.customers.queries.accounts import the_account
from tradecounter.customers.queries.addresses import list_addresses
from tradecounter.customers.wire import AddressDetails, SavedAddress
from tradecounter.db.transaction import Transaction
from tradecounter.rest.call import Call
from tradecounter.rest.common_errors import NOT_FOUND
from tradecounter.rest.operation import ID, Body, Operation, Parameter, Success, endpoint
from tradecounter.rest.responses import json_response


@dataclass(frozen=True, slots=True)
class AddressDesk:
    """The endpoints of customers' address books."""

    desk: Desk

    @endpoint(
        Operation(
            method="GET",
            path="/api/customer/{id}/address",
            name="listAddresses",
            tag="Customers",
            summary="A customer's address book",
            path_parameters=(CUSTOMER_ID,),
            success=Success(200, "The active addresses.", list[SavedAddress], {"List": [examples.SAVED_ADDRESS]}),
            errors=(NOT_FOUND,),
            scope="customers:read",
        )
    )
    async def list_addresses(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            account = await the_account(tx, call.path_id("id", "customer"))
            return json_response(await list_addresses(tx, account.id))

    @endpoint(
        Operation(
            method="POST",
            path="/api/customer/{id}/address",
            name="createAddress",
            tag="Customers",
            summary="Save an address",
            path_parameters=(CUSTOMER_ID,),
            request_headers=POST_HEADERS,
            body=Body(AddressDetails, {"AddressDetails": examples.ADDRESS_DETAILS}),
            success=Success(201, "The address.", SavedAddress, {"SavedAddress": examples.SAVED_ADDRESS}, headers=NEW),
            errors=(NOT_FOUND, CONFLICT),
            scope="customers:write",
        )
    )
    async def create_address(self, call: Call) -> Response:
        customer_id = call.path_id("id", "customer")

        async def work(tx: Transaction, body: AddressDetails, now: datetime) -> SavedAddress:
            return await save_address_of(tx, customer_id, body, now)

        async def check(_tx: Transaction, raw: bytes, _now: datetime) -> None:
            read_address(raw)

        location = f"/api/customer/{customer_id}/address/{{id}}"
        return await self.desk.change(call, AddressDetails, work, status=201, location=location, check=check)

    @endpoint(
        Operation(
            method="DELETE",
            path="/api/customer/{id}/address/{address_id}",
            name="deleteAddress",
            tag="Customers",
            summary="Delete an address",
            path_parameters=(CUSTOMER_ID, Parameter("address_id", "The address's id.", ID, 5003)),
            request_headers=CHANGE_HEADERS,
            success=Success(204, "The address is deleted."),
            errors=(NOT_FOUND,),
            scope="customers:write",
        )
    )
    async def delete_address(self, call: Call) -> Response:
        customer_id, address_id = call.path_id("id", "customer"), call.path_id("address_id", "address")

        async def work(tx: Transaction, now: datetime) -> None:
            await remove_address(tx, customer_id, address_id, now)

        return await self.desk.delete(call, work)
