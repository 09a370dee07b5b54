"""`/api/approval`: orders that wait for an approver of their customer."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.approvals.handle_approvals import approve_for_customer, decline_for_customer
from tradecounter.approvals.queries import State, approval_table, fetch_approval
from tradecounter.approvals.wire import DeclineApprovalRequest, ResellerApproval, present_approval
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import ChangingParameters, Desk
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import Described, ListPage, Subject
from tradecounter.orders.interface_document import EXPIRED, PAYMENT_REQUIRED
from tradecounter.orders.operations.staff import SELLERS
from tradecounter.orders.order_context import OrderContexts

_CODE = "0b7d5a3f9c1e4826a0d4b8f2c6e1937d"
_DESCRIBED: Mapping[type, Described] = {
    ResellerApproval: Described(
        "The request for approval.",
        ResellerApproval(
            id=41,
            confirmation_code=_CODE,
            customer_id=1001,
            customer_reference="PO-41684",
            total_gross=Decimal("1423.62"),
            state="declined",
            shipping_method=11,
            note="For the new office.",
            requested_by="jo@harbourline.example",
            agent="",
            requested_at=datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC),
            decided_by="margaret@harbourline.example",
            decided_at=datetime(2026, 6, 16, 10, 30, tzinfo=UTC),
            reason="Next month.",
        ),
        "Approval",
    ),
    DeclineApprovalRequest: Described("", DeclineApprovalRequest("Next month, please."), "Decision"),
}
_APPROVALS = Subject(tag="Orders", read="orders:read", write="orders:write", roles=SELLERS, described=_DESCRIBED)
_ALL, _ONE = "/api/approval", "/api/approval/{code}"

Code = Annotated[
    str,
    InPath("code", "The order's confirmation code.", _CODE, "request for approval", in_lower_case=True),
]


class ApprovalListParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/approval`."""

    state: Annotated[State, Meta(description="Only requests in this state.")] | None = None
    customer_id: Annotated[int, Meta(ge=1, description="Only this customer's requests.")] | None = None


class ApprovalOperations(Struct, frozen=True):
    """The endpoints of requests for approval."""

    desk: Desk
    contexts: OrderContexts

    @_APPROVALS.lists(_ALL, "The requests.")
    async def list_approvals(
        self, tx: Transaction, now: datetime, query: ApprovalListParameters
    ) -> ListPage[ResellerApproval]:
        """Requests for approval of orders above their buyers' limits.

        Of all customers, those of the latest orders first.
        """
        approvals = await approval_table(
            tx, query.state, query.customer_id, query.after or None, query.limit + 1, now, query.since
        )
        return ListPage(approvals, map(present_approval, approvals), lambda approval: approval.order_id)

    @_APPROVALS.shows(_ONE)
    async def get_approval(self, tx: Transaction, now: datetime, code: Code) -> ResellerApproval:
        """One request for approval.

        The code of an order that was priced again leads to the request for the order that took its place.
        """
        return present_approval(await fetch_approval(tx, None, code, now))

    @_APPROVALS.changes("POST", f"{_ONE}/approve", errors=(PAYMENT_REQUIRED, EXPIRED))
    async def approve_order(self, tx: Transaction, now: datetime, code: Code) -> ResellerApproval:
        """Approve an order for its customer.

        Confirms it with the shipping method of the request, with all checks of a confirmation: 402 beyond the credit,
        410 when its prices have expired, 409 if it is decided already, has ended or was priced again.
        """
        return present_approval(await approve_for_customer(tx, code, self.contexts.policy, now))

    @_APPROVALS.changes("POST", f"{_ONE}/decline")
    async def decline_order(
        self, tx: Transaction, now: datetime, code: Code, body: DeclineApprovalRequest
    ) -> ResellerApproval:
        """Decline an order for its customer.

        A pending order is cancelled, a quote stays as it is. Who asked gets the reason by e-mail. 409 if it is decided
        already, has ended or was priced again.
        """
        return present_approval(await decline_for_customer(tx, code, body.reason, now))
