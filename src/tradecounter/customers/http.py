"""`GET /customer`, and `/customer/address` with GET, POST and DELETE."""

from dataclasses import dataclass

from starlette.responses import Response

from tradecounter.customers.accounts import Account, find_account
from tradecounter.customers.address_rules import read_address
from tradecounter.customers.addresses import add_address, delete_address, list_addresses
from tradecounter.customers.wire import AddressDetails, Customer, CustomerCreditTerms, SavedAddress
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading, transaction
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import not_found
from tradecounter.rest.call import Call
from tradecounter.rest.operation import Answer, Operation, endpoint
from tradecounter.rest.responses import json_response


@dataclass(frozen=True, slots=True)
class CustomerEndpoints:
    """The account's endpoints."""

    database: Database
    clock: Clock

    @endpoint(
        Operation(
            method="GET",
            path="/customer",
            name="getCustomer",
            tag="Account",
            summary="Your account",
            description="The contact person, the credit terms, and whether it is a trade account.",
            answer=Answer(200, "The account.", Customer),
            errors=(401,),
        )
    )
    async def show_customer(self, call: Call) -> Response:
        """Answer `GET /customer`."""
        async with reading(self.database) as tx:
            account = await find_account(tx, call.customer_id)
        if account is None:
            raise not_found("customer")
        return json_response(on_the_wire(account))

    @endpoint(
        Operation(
            method="GET",
            path="/customer/address",
            name="listAddresses",
            tag="Account",
            summary="Your address book",
            description="The saved addresses, oldest first. An order can name one by its `id`.",
            answer=Answer(200, "The active addresses.", list[SavedAddress]),
            errors=(401,),
        )
    )
    async def list_addresses(self, call: Call) -> Response:
        """Answer `GET /customer/address`."""
        async with reading(self.database) as tx:
            return json_response(await list_addresses(tx, call.customer_id))

    @endpoint(
        Operation(
            method="POST",
            path="/customer/address",
            name="createAddress",
            tag="Account",
            summary="Save an address",
            description="Every request makes a new address, identical ones included.",
            body=AddressDetails,
            answer=Answer(201, "The address with its new `id`.", SavedAddress),
            errors=(400, 401),
        )
    )
    async def create_address(self, call: Call) -> Response:
        """Answer `POST /customer/address`."""
        address = read_address(await call.json_text())
        async with transaction(self.database) as tx:
            saved = await add_address(tx, call.customer_id, address)
        return json_response(saved, 201)

    @endpoint(
        Operation(
            method="DELETE",
            path="/customer/address/{id}",
            name="deleteAddress",
            tag="Account",
            summary="Delete an address",
            description="Orders keep their copies of it.",
            answer=Answer(204, "It is gone."),
            errors=(401, 404),
        )
    )
    async def delete_address(self, call: Call) -> Response:
        """Answer `DELETE /customer/address/{id}`."""
        address_id = call.path_id("id", "address")
        async with transaction(self.database) as tx:
            if not await delete_address(tx, call.customer_id, address_id, self.clock.now()):
                raise not_found("address")
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
