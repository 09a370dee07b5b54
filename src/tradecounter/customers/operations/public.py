"""`GET /customer`, and `/customer/address` with GET, POST, PUT and DELETE."""

from dataclasses import dataclass

from starlette.responses import Response

from tradecounter.customers.address_book import change_address, remove_address, save_address
from tradecounter.customers.address_rules import read_address
from tradecounter.customers.queries.accounts import find_account
from tradecounter.customers.queries.addresses import find_address, list_addresses
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
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading, transaction
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.edge.rest.operation import ID, Body, Link, Operation, Parameter, Sample, Success, endpoint
from tradecounter.edge.rest.responses import json_response
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import not_found


@dataclass(frozen=True, slots=True)
class CustomerEndpoints:
    """The endpoints of the account."""

    database: Database
    clock: Clock

    @endpoint(
        Operation(
            method="GET",
            path="/customer",
            name="getCustomer",
            key_scopes=("account",),
            tag="Account",
            summary="Your account",
            description="The contact person, the credit terms, and whether it is a trade account.",
            success=Success(200, "The account.", Customer, {"Customer": CUSTOMER}),
        )
    )
    async def show_customer(self, call: Call) -> Response:
        async with reading(self.database) as tx:
            account = await find_account(tx, call.customer_id)
        if account is None:
            raise not_found("customer", call.customer_id)
        return json_response(on_the_wire(account))

    @endpoint(
        Operation(
            method="GET",
            path="/customer/address",
            name="listAddresses",
            key_scopes=("account",),
            tag="Account",
            summary="Your address book",
            description="The saved addresses, oldest first. Orders can use them by `id`.",
            success=Success(200, "The active addresses.", list[SavedAddress], {"List": [SAVED_ADDRESS]}),
        )
    )
    async def list_addresses(self, call: Call) -> Response:
        async with reading(self.database) as tx:
            return json_response(await list_addresses(tx, call.customer_id))

    @endpoint(
        Operation(
            method="POST",
            path="/customer/address",
            name="createAddress",
            key_scopes=("account",),
            tag="Account",
            summary="Save an address",
            description="Every request saves a new address, even if an identical one exists.",
            body=Body(AddressDetails, {"AddressDetails": ADDRESS_DETAILS}),
            success=Success(201, "The address with its new `id`.", SavedAddress, {"SavedAddress": SAVED_ADDRESS}),
        )
    )
    async def create_address(self, call: Call) -> Response:
        address = read_address(await call.json_text())
        async with transaction(self.database, call.actor) as tx:
            saved = await save_address(tx, call.customer_id, address, self.clock.now())
        return json_response(saved, 201)

    @endpoint(
        Operation(
            method="PUT",
            path="/customer/address/{id}",
            name="replaceAddress",
            key_scopes=("account",),
            tag="Account",
            summary="Replace an address",
            description="The address keeps its `id`. Orders, also pending ones, keep their own copies of the old one.",
            path_parameters=(Parameter("id", "The id of the saved address.", ID, 5003),),
            body=Body(AddressDetails, {"AddressDetails": ADDRESS_DETAILS}),
            success=Success(200, "The address as it is now.", SavedAddress, {"SavedAddress": SAVED_ADDRESS}),
            errors=(NOT_FOUND,),
            links=(
                Link("createAddress", "Replaces the address, by its id.", {"id": "$response.body#/id"}),
                Link("listAddresses", "Replaces one of the addresses, by its id.", {"id": "$response.body#/0/id"}),
            ),
            sample=Sample(after="createAddress"),
        )
    )
    async def replace_address(self, call: Call) -> Response:
        address_id, address = call.path_id("id", "address"), read_address(await call.json_text())
        async with transaction(self.database, call.actor) as tx:
            await change_address(tx, call.customer_id, address_id, address, self.clock.now())
            return json_response(await find_address(tx, call.customer_id, address_id))

    @endpoint(
        Operation(
            method="DELETE",
            path="/customer/address/{id}",
            name="deleteAddress",
            key_scopes=("account",),
            tag="Account",
            summary="Delete an address",
            description="Orders keep their own copies of the address.",
            path_parameters=(Parameter("id", "The id of the saved address.", ID, 5003),),
            success=Success(204, "The address is deleted."),
            errors=(NOT_FOUND,),
            links=(
                Link("createAddress", "Deletes the address, by its id.", {"id": "$response.body#/id"}),
                Link("listAddresses", "Deletes one of the addresses, by its id.", {"id": "$response.body#/0/id"}),
            ),
            sample=Sample(after="createAddress"),
        )
    )
    async def delete_address(self, call: Call) -> Response:
        address_id = call.path_id("id", "address")
        async with transaction(self.database, call.actor) as tx:
            await remove_address(tx, call.customer_id, address_id, self.clock.now())
        return Response(status_code=204)


def on_the_wire(account: Account) -> Customer:
    """Return an account as the resource Customer."""
    terms = None
    if account.credit_limit is not None and account.term_days is not None:
        terms = CustomerCreditTerms(account.credit_limit, account.term_days)
    return Customer(
        first_name=account.first_name,
        last_name=account.last_name,
        email_address=account.email_address,
        trade_account=account.trade_account,
        credit_terms=terms,
        accounts_email=account.accounts_email,
    )
