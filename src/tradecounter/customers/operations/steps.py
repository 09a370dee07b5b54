"""`/api/customer/{id}/block`, `/export` and `/erase`."""

from datetime import datetime
from io import BytesIO

from msgspec import Struct
from starlette.responses import Response

from tradecounter.customers.change_account import block_customer, unblock_customer
from tradecounter.customers.operations.staff import CUSTOMERS, ONE_CUSTOMER, CustomerId, present_customer
from tradecounter.customers.operations.wire import ResellerCustomer
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Desk
from tradecounter.edge.operations.scopes import CONFLICT
from tradecounter.edge.operations.subject import FILE
from tradecounter.edge.rest.negotiation import ZIP
from tradecounter.edge.rest.responses import file_response
from tradecounter.kit.wire import ReasonRequest
from tradecounter.privacy.erase_customer import erase_customer
from tradecounter.privacy.export_customer import export_customer


class CustomerStepOperations(Struct, frozen=True):
    """The endpoints that block, export and erase customers."""

    desk: Desk

    @CUSTOMERS.changes("POST", f"{ONE_CUSTOMER}/block", scope="billing:write")
    async def block_customer(
        self, tx: Transaction, now: datetime, customer_id: CustomerId, body: ReasonRequest
    ) -> ResellerCustomer:
        """Block a customer.

        Its keys and tokens are rejected within five seconds, and it cannot order; open orders stay.
        """
        return await present_customer(tx, await block_customer(tx, customer_id, body.reason, now), now)

    @CUSTOMERS.changes(
        "DELETE",
        f"{ONE_CUSTOMER}/block",
        "The customer is not blocked any more.",
        errors=(CONFLICT,),
        scope="billing:write",
    )
    async def unblock_customer(self, tx: Transaction, now: datetime, customer_id: CustomerId) -> None:
        """Unblock a customer."""
        await unblock_customer(tx, customer_id, now)

    @CUSTOMERS.shows(f"{ONE_CUSTOMER}/export", "The ZIP file.", files={ZIP: FILE})
    async def export_customer(self, tx: Transaction, customer_id: CustomerId) -> Response:
        """All that is stored of a customer.

        A ZIP file of JSON and PDF files, without secrets.
        """
        copy = BytesIO()
        await export_customer(tx, customer_id, copy)
        return file_response(copy.getvalue(), f"customer-{customer_id}.zip", ZIP)

    @CUSTOMERS.changes("POST", f"{ONE_CUSTOMER}/erase", roles=("administrator",))
    async def erase_customer(self, tx: Transaction, now: datetime, customer_id: CustomerId) -> ResellerCustomer:
        """Erase a customer's personal data.

        Erases all that tax law does not require. It cannot be undone, and fails while something is open or owed.
        """
        await erase_customer(tx, customer_id, now)
        return await present_customer(tx, await fetch_account(tx, customer_id), now)
