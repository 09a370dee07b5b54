"""`tradecounter request`: what customers ask about their orders."""

from typing import Annotated, Any

import typer

from tradecounter.customer_requests.handle_requests import RequestAnswer, close_request, fetch_request
from tradecounter.customer_requests.queries import request_table
from tradecounter.customer_requests.wire import ResellerRequest, present_request
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import Customer, IdOf, InState, Limit
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import LISTED, AsJson, Prose, show, show_record
from tradecounter.edge.command_line.request_options import takes_request
from tradecounter.edge.command_line.session import run_change, run_query

app = typer.Typer(no_args_is_help=True, help="What customers ask about their orders.")

RequestId = Annotated[int, IdOf("ID", "The request's id.")]

_STATES = ("open", "closed")
_COLUMNS = ("id", "state", "kind", "order_reference", "customer_id", "asked_by", "opened_at", "closed_at", "closed_by",
            Prose("text"), Prose("answer"))  # fmt: skip
_ITEMS = ("id", "sku", "quantity")


@app.command("list")
@lists_records(_COLUMNS)
async def show_all(
    tx: Transaction,
    state: Annotated[Any, InState("requests", _STATES)] = None,
    customer: Customer = None,
    limit: Limit = LISTED,
) -> list[ResellerRequest]:
    """List requests, the latest first."""
    return [present_request(found) for found in await request_table(tx, state, limit, None, customer_id=customer)]


@app.command("show")
def show_one(request_id: RequestId, as_json: AsJson = False) -> None:
    """Show a request."""
    request = present_request(run_query(lambda tx: fetch_request(tx, request_id)))
    show_record(request, parts={"items": ("Items", _ITEMS)}, as_json=as_json)


@app.command("close")
@takes_request(required=("text",))
def close(request_id: RequestId, answer: RequestAnswer, as_json: AsJson = False) -> None:
    """Close a request with an answer, which who asked gets by e-mail."""
    closed = run_change(lambda tx, now: close_request(tx, request_id, answer.text, now))
    show(present_request(closed), f"request {request_id} is closed", as_json=as_json)
