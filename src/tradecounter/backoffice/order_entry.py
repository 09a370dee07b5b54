"""`/api/order`: orders that support creates, confirms and amends for customers."""

from dataclasses import dataclass
from datetime import datetime

from starlette.responses import Response

from tradecounter.backoffice import examples
from tradecounter.backoffice.desk import CHANGE_HEADERS, LOCATION, POST_HEADERS, Desk, DryRun
from tradecounter.backoffice.error_responses import CONFLICT, PRECONDITION_FAILED
from tradecounter.backoffice.gate import require_scope
from tradecounter.backoffice.order_context import OrderContexts
from tradecounter.backoffice.order_sales import (
    SELLERS,
    amend_sale,
    check_sale,
    confirm_quoted,
    confirm_sale,
    create_sale,
)
from tradecounter.backoffice.order_wire import Amendment, Confirmation, OrderRequest, ResellerOrder
from tradecounter.backoffice.orders import ORDER, REFERENCE
from tradecounter.backoffice.present_order import OrderPresenter
from tradecounter.backoffice.quotes import CODE, code_of
from tradecounter.customers.wire import AddressDetails
from tradecounter.db.transaction import Transaction
from tradecounter.ordering.error_responses import EXPIRED, PAYMENT_REQUIRED
from tradecounter.ordering.reseller_wire import OverrideCredit
from tradecounter.ordering.wire import OrderAddressDetails
from tradecounter.rest.call import Call
from tradecounter.rest.common_errors import NOT_FOUND
from tradecounter.rest.headers import IDEMPOTENT_REPLAY
from tradecounter.rest.operation import Body, Operation, Success, endpoint

_OVERRIDE = " `override_credit` needs the scope `billing:write` too."
_CONFIRM_ERRORS = (PAYMENT_REQUIRED, NOT_FOUND, CONFLICT, EXPIRED, PRECONDITION_FAILED)


def _check_override(call: Call, override: OverrideCredit | None) -> None:
    """Check that a program may override the credit. Raises DomainError (forbidden)."""
    if override is not None:
        require_scope(call.request, "billing:write")


@dataclass(frozen=True, slots=True)
class OrderEntryDesk:
    """The endpoints that sell for customers."""

    desk: Desk
    orders: OrderPresenter
    contexts: OrderContexts

    @endpoint(
        Operation(
            method="POST",
            path="/api/order",
            name="createOrder",
            tag="Orders",
            summary="Create an order for a customer",
            description="At the customer's prices and terms, with the checks of the customers' API." + _OVERRIDE,
            request_headers=POST_HEADERS,
            body=Body(OrderRequest, {"OrderRequest": examples.NEW_ORDER}),
            success=Success(
                201, "The order.", ResellerOrder, {"Order": examples.ORDER}, headers=(LOCATION, IDEMPOTENT_REPLAY)
            ),
            errors=(PAYMENT_REQUIRED, NOT_FOUND, CONFLICT, PRECONDITION_FAILED),
            referenced=(OrderAddressDetails, AddressDetails),
            scope="orders:write",
            roles=SELLERS,
        )
    )
    async def create_order(self, call: Call) -> Response:
        async def work(tx: Transaction, body: OrderRequest, now: datetime) -> ResellerOrder:
            _check_override(call, body.override_credit)
            return await self.orders.one(tx, await create_sale(tx, body, self.contexts, now), now)

        async def check(tx: Transaction, raw: bytes, now: datetime) -> None:
            await check_sale(tx, raw, self.contexts, now)

        return await self.desk.change(call, OrderRequest, work, status=201, location="/api/order/{id}", check=check)

    @endpoint(
        Operation(
            method="POST",
            path="/api/order/{reference}/confirm",
            name="confirmOrder",
            tag="Orders",
            summary="Confirm a pending order for its customer",
            description="A confirmed order stays as it is." + _OVERRIDE,
            path_parameters=(REFERENCE,),
            request_headers=POST_HEADERS,
            body=Body(Confirmation, {"Confirmation": examples.CONFIRMATION}, required=False),
            success=ORDER,
            errors=_CONFIRM_ERRORS,
            scope="orders:write",
            roles=SELLERS,
        )
    )
    async def confirm_order(self, call: Call) -> Response:
        reference = call.path_text("reference", "order")

        async def work(tx: Transaction, body: Confirmation, now: datetime) -> ResellerOrder:
            _check_override(call, body.override_credit)
            return await self.orders.one(tx, await confirm_sale(tx, reference, body, self.contexts, now), now)

        return await self.desk.change(call, Confirmation, work)

    @endpoint(
        Operation(
            method="POST",
            path="/api/quote/{code}/confirm",
            name="confirmQuote",
            tag="Quotes",
            summary="Confirm a priced quote for its customer",
            description="It becomes an order. A confirmed quote stays as it is." + _OVERRIDE,
            path_parameters=(CODE,),
            request_headers=POST_HEADERS,
            body=Body(Confirmation, {"Confirmation": examples.CONFIRMATION}, required=False),
            success=ORDER,
            errors=_CONFIRM_ERRORS,
            scope="quotes:write",
            roles=SELLERS,
        )
    )
    async def confirm_quote(self, call: Call) -> Response:
        code = code_of(call)

        async def work(tx: Transaction, body: Confirmation, now: datetime) -> ResellerOrder:
            _check_override(call, body.override_credit)
            return await self.orders.one(tx, await confirm_quoted(tx, code, body, self.contexts, now), now)

        return await self.desk.change(call, Confirmation, work)

    @endpoint(
        Operation(
            method="PATCH",
            path="/api/order/{reference}",
            name="amendOrder",
            tag="Orders",
            summary="Amend a confirmed order before its dispatch",
            description=(
                "Stock, credit and totals follow, and the customer gets an e-mail. Lines that are not named stay."
                + _OVERRIDE
            ),
            path_parameters=(REFERENCE,),
            query=DryRun,
            request_headers=CHANGE_HEADERS,
            body=Body(Amendment, {"Amendment": examples.AMENDMENT}),
            success=Success(200, "The order.", ResellerOrder, {"Order": examples.ORDER}),
            errors=(PAYMENT_REQUIRED, NOT_FOUND, CONFLICT),
            referenced=(OrderAddressDetails, AddressDetails),
            scope="orders:write",
            roles=SELLERS,
        )
    )
    async def amend_order(self, call: Call) -> Response:
        reference, dry_run = call.path_text("reference", "order"), call.query(DryRun).is_wanted

        async def work(tx: Transaction, body: Amendment, now: datetime) -> ResellerOrder:
            _check_override(call, body.override_credit)
            return await self.orders.one(tx, await amend_sale(tx, reference, body, self.contexts, now), now)

        return await self.desk.change(call, Amendment, work, dry_run=dry_run)
