"""`/api/order`: orders that support creates, confirms and amends for customers."""

from contextlib import nullcontext
from datetime import datetime

from msgspec import UNSET, Struct

from tradecounter.customers.wire import AddressDetails
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Desk
from tradecounter.edge.operations.scopes import CONFLICT, PRECONDITION_FAILED, require_token_scope
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.kit.json_text import decode_json
from tradecounter.orders.amend.amend_order import amend_order
from tradecounter.orders.confirm_for_customer import confirm_for_customer
from tradecounter.orders.create.create_for_customer import create_for_customer
from tradecounter.orders.create.read_request import read_request
from tradecounter.orders.error_responses import EXPIRED, PAYMENT_REQUIRED
from tradecounter.orders.external_ids import set_external_id
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.operations.staff import ALL_ORDERS, ONE_ORDER, ORDERS, SELLERS, OrderReference
from tradecounter.orders.order_context import OrderContexts
from tradecounter.orders.reseller_wire import Amendment, Confirmation, OrderRequest, OverrideCredit, ResellerOrder
from tradecounter.orders.wire import OrderAddressDetails
from tradecounter.parts.present_order import OrderPresenter

CONFIRM_ERRORS = (PAYMENT_REQUIRED, EXPIRED, PRECONDITION_FAILED)
_ADDRESSES = (OrderAddressDetails, AddressDetails)


def check_override(call: Call, override: OverrideCredit | None) -> None:
    """Check that a program may override the credit. Raises DomainError (forbidden)."""
    if override is not None:
        require_token_scope(call.request, "billing:write")


async def _check_order(group: "OrderEntryOperations", tx: Transaction, raw: bytes, now: datetime) -> None:
    """Check the order in a body where some field has the wrong type. Raises DomainError (invalid)."""
    body = decode_json(raw)
    customer_id = body.get("customer_id") if isinstance(body, dict) else None
    if type(customer_id) is int and 0 < customer_id < 2**63:
        await read_request(raw, group.contexts.of(customer_id, now), lambda: nullcontext(tx))


class OrderEntryOperations(Struct, frozen=True):
    """The endpoints that sell for customers."""

    desk: Desk
    orders: OrderPresenter
    contexts: OrderContexts

    @ORDERS.changes(
        "POST",
        ALL_ORDERS,
        location="{id}",
        check=_check_order,
        errors=(PAYMENT_REQUIRED, NOT_FOUND, PRECONDITION_FAILED),
        referenced=_ADDRESSES,
        roles=SELLERS,
    )
    async def create_order(self, tx: Transaction, now: datetime, call: Call, body: OrderRequest) -> ResellerOrder:
        """Create an order for a customer.

        At the customer's prices and terms, with the checks of the customers' API. `override_credit` needs the scope
        `billing:write` too.
        """
        check_override(call, body.override_credit)
        reason = None if body.override_credit is None else body.override_credit.reason
        context = self.contexts.of(body.customer_id, now)
        order, _ = await create_for_customer(tx, body, context, confirm=False, override_credit=reason)
        if body.external_id is not None:
            await set_external_id(tx, str(order.id), body.external_id, now)
        return await self.orders.one(tx, order, now)

    @ORDERS.changes("POST", f"{ONE_ORDER}/confirm", errors=CONFIRM_ERRORS, roles=SELLERS)
    async def confirm_order(
        self, tx: Transaction, now: datetime, call: Call, reference: OrderReference, body: Confirmation
    ) -> ResellerOrder:
        """Confirm a pending order for its customer.

        A confirmed order stays as it is. `override_credit` needs the scope `billing:write` too.
        """
        check_override(call, body.override_credit)
        order = await fetch_order(tx, reference)
        return await self.orders.one(tx, await confirm_for_customer(tx, order, body, self.contexts.policy, now), now)

    @ORDERS.changes(
        "PATCH",
        ONE_ORDER,
        dry_run=True,
        errors=(PAYMENT_REQUIRED, CONFLICT),
        referenced=_ADDRESSES,
        roles=SELLERS,
    )
    async def amend_order(
        self, tx: Transaction, now: datetime, call: Call, reference: OrderReference, body: Amendment
    ) -> ResellerOrder:
        """Amend a confirmed order before its dispatch.

        Stock, credit and totals follow, and the customer gets an e-mail. Lines that are not named stay. `external_id`
        alone changes an order in any state, without an e-mail.
        `override_credit` needs the scope `billing:write` too.
        """
        check_override(call, body.override_credit)
        if body.external_id is not UNSET:
            named = await set_external_id(tx, reference, body.external_id, now)
            if body.changes_nothing:
                return await self.orders.one(tx, named, now)
        context = self.contexts.of((await fetch_order(tx, reference)).customer_id, now)
        order, _ = await amend_order(tx, reference, body, context)
        return await self.orders.one(tx, order, now)
