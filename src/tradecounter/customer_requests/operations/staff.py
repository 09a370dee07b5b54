"""`/api/request`: what customers ask about their orders, and the answers."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.customer_requests.handle_requests import RequestAnswer, close_request, fetch_request
from tradecounter.customer_requests.operations.examples import DESCRIBED
from tradecounter.customer_requests.queries import State, request_table
from tradecounter.customer_requests.wire import ResellerRequest, present_request
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import ChangingParameters, Desk
from tradecounter.edge.operations.subject import InPath, Listed, Subject

_REQUESTS = Subject(tag="Orders", read="orders:read", write="orders:write", described=DESCRIBED)
_ALL = "/api/request"
_ONE = "/api/request/{id}"

RequestId = Annotated[int, InPath("id", "The request's id.", 1, "request")]


class RequestListParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/request`."""

    state: Annotated[State, Meta(description="Only requests in this state.")] | None = None
    customer_id: Annotated[int, Meta(ge=1, description="Only this customer's requests.")] | None = None


class RequestOperations(Struct, frozen=True):
    """The endpoints of customers' requests."""

    desk: Desk

    @_REQUESTS.lists(_ALL, "The requests.")
    async def list_requests(self, tx: Transaction, query: RequestListParameters) -> Listed[ResellerRequest]:
        """Requests of all customers about their orders.

        To cancel units, to return them, or anything else in words. The latest first.
        """
        found = await request_table(
            tx,
            query.state,
            query.limit + 1,
            query.after or None,
            customer_id=query.customer_id,
            changed_since=query.since,
        )
        return Listed(found, map(present_request, found))

    @_REQUESTS.shows(_ONE)
    async def get_request(self, tx: Transaction, request_id: RequestId) -> ResellerRequest:
        """One request."""
        return present_request(await fetch_request(tx, request_id))

    @_REQUESTS.changes("POST", f"{_ONE}/close", roles=("support", "administrator"))
    async def close_request(
        self, tx: Transaction, now: datetime, request_id: RequestId, body: RequestAnswer
    ) -> ResellerRequest:
        """Close a request with an answer.

        Who asked gets the answer by e-mail: the user, or the account if a program asked. Do first what is asked. 409 if
        it is closed already.
        """
        return present_request(await close_request(tx, request_id, body.text, now))
