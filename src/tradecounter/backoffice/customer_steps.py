"""`/api/customer/{id}/block`, `/export` and `/erase`."""

from dataclasses import dataclass
from datetime import datetime
from io import BytesIO

from starlette.responses import Response

from tradecounter.backoffice import examples
from tradecounter.backoffice.customer_wire import Blocking, ResellerCustomer
from tradecounter.backoffice.customers import CUSTOMER_ID, present_customer
from tradecounter.backoffice.desk import CHANGE_HEADERS, POST_HEADERS, Desk, Nothing
from tradecounter.backoffice.error_responses import CONFLICT
from tradecounter.customers.block_customer import block_customer, unblock_customer
from tradecounter.customers.queries.accounts import the_account
from tradecounter.db.transaction import Transaction
from tradecounter.privacy.erase_customer import erase_customer
from tradecounter.privacy.export_customer import export_customer
from tradecounter.rest.call import Call
from tradecounter.rest.common_errors import NOT_FOUND
from tradecounter.rest.headers import CONTENT_DISPOSITION, IDEMPOTENT_REPLAY
from tradecounter.rest.operation import Body, Media, Operation, Success, endpoint
from tradecounter.rest.responses import file_response

_CUSTOMER = Success(
    200, "The customer.", ResellerCustomer, {"Customer": examples.CUSTOMER}, headers=(IDEMPOTENT_REPLAY,)
)
_ZIP = "application/zip"


@dataclass(frozen=True, slots=True)
class CustomerStepsDesk:
    """The endpoints that block, export and erase customers."""

    desk: Desk

    @endpoint(
        Operation(
            method="POST",
            path="/api/customer/{id}/block",
            name="blockCustomer",
            tag="Customers",
            summary="Block a customer",
            description="Its keys and tokens are rejected within five seconds, and it cannot order; open orders stay.",
            path_parameters=(CUSTOMER_ID,),
            request_headers=POST_HEADERS,
            body=Body(Blocking, {"Blocking": examples.BLOCKING}),
            success=_CUSTOMER,
            errors=(NOT_FOUND, CONFLICT),
            scope="billing:write",
        )
    )
    async def block_customer(self, call: Call) -> Response:
        customer_id = call.path_id("id", "customer")

        async def work(tx: Transaction, body: Blocking, now: datetime) -> ResellerCustomer:
            return await present_customer(tx, await block_customer(tx, customer_id, body.reason, now), now)

        return await self.desk.change(call, Blocking, work)

    @endpoint(
        Operation(
            method="DELETE",
            path="/api/customer/{id}/block",
            name="unblockCustomer",
            tag="Customers",
            summary="Unblock a customer",
            path_parameters=(CUSTOMER_ID,),
            request_headers=CHANGE_HEADERS,
            success=Success(204, "The customer is not blocked any more."),
            errors=(NOT_FOUND, CONFLICT),
            scope="billing:write",
        )
    )
    async def unblock_customer(self, call: Call) -> Response:
        customer_id = call.path_id("id", "customer")
        return await self.desk.delete(call, lambda tx, now: unblock_customer(tx, customer_id, now))

    @endpoint(
        Operation(
            method="GET",
            path="/api/customer/{id}/export",
            name="exportCustomer",
            tag="Customers",
            summary="All that is stored of a customer",
            description="A ZIP file of JSON and PDF files, without secrets.",
            path_parameters=(CUSTOMER_ID,),
            success=Success(
                200,
                "The ZIP file.",
                media_types={_ZIP: Media({"type": "string", "format": "binary"})},
                headers=(CONTENT_DISPOSITION,),
            ),
            errors=(NOT_FOUND,),
            scope="customers:read",
        )
    )
    async def export_customer(self, call: Call) -> Response:
        customer_id, copy = call.path_id("id", "customer"), BytesIO()
        async with self.desk.reading() as tx:
            await export_customer(tx, customer_id, copy)
        return file_response(copy.getvalue(), f"customer-{customer_id}.zip", _ZIP)

    @endpoint(
        Operation(
            method="POST",
            path="/api/customer/{id}/erase",
            name="eraseCustomer",
            tag="Customers",
            summary="Erase a customer's personal data",
            description=(
                "Erases all that tax law does not require. It cannot be undone, and fails while something is open or "
                "owed."
            ),
            path_parameters=(CUSTOMER_ID,),
            request_headers=POST_HEADERS,
            success=_CUSTOMER,
            errors=(NOT_FOUND, CONFLICT),
            scope="customers:write",
            roles=("administrator",),
        )
    )
    async def erase_customer(self, call: Call) -> Response:
        customer_id = call.path_id("id", "customer")

        async def work(tx: Transaction, _: Nothing, now: datetime) -> ResellerCustomer:
            await erase_customer(tx, customer_id, now)
            return await present_customer(tx, await the_account(tx, customer_id), now)

        return await self.desk.change(call, Nothing, work)
