"""`tradecounter approval`: orders that wait for an approver of their customer."""

from typing import Annotated, Any, get_args

import typer

from tradecounter.approvals.handle_approvals import approve_for_customer, decline_for_customer
from tradecounter.approvals.queries import State, approval_table
from tradecounter.approvals.wire import DeclineApprovalRequest, ResellerApproval, present_approval
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import Customer, InState, Limit
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import LISTED, AsJson, Prose, show
from tradecounter.edge.command_line.request_options import takes_request
from tradecounter.edge.command_line.session import from_settings, run_change
from tradecounter.kit.clock import SystemClock
from tradecounter.orders.order_context import OrderingPolicy

app = typer.Typer(no_args_is_help=True, help="Orders above their buyers' limits, which wait for approval.")

Code = Annotated[str, typer.Argument(metavar="CODE", help="The order's confirmation code, from `approval list`.")]

_COLUMNS = ("confirmation_code", "state", "customer_id", "customer_reference", "total_gross", "requested_by", "agent",
            "requested_at", "decided_by", "decided_at", Prose("note"), Prose("reason"))  # fmt: skip


@app.command("list")
@lists_records(_COLUMNS)
async def show_all(
    tx: Transaction,
    state: Annotated[Any, InState("requests", get_args(State))] = None,
    customer: Customer = None,
    limit: Limit = LISTED,
) -> list[ResellerApproval]:
    """List requests for approval, those of the latest orders first."""
    now = SystemClock().now()
    return [present_approval(found) for found in await approval_table(tx, state, customer, None, limit, now)]


@app.command("approve")
def approve(code: Code, as_json: AsJson = False) -> None:
    """Confirm an order for its customer, with the shipping method of the request."""
    policy = from_settings(OrderingPolicy.from_settings)
    approved = run_change(lambda tx, now: approve_for_customer(tx, code, policy, now))
    show(present_approval(approved), f"{code} is approved and confirmed", as_json=as_json)


@app.command("decline")
@takes_request()
def decline(code: Code, request: DeclineApprovalRequest, as_json: AsJson = False) -> None:
    """Decline an order for its customer; a pending order is cancelled."""
    declined = run_change(lambda tx, now: decline_for_customer(tx, code, request.reason, now))
    show(present_approval(declined), f"{code} is declined", as_json=as_json)
