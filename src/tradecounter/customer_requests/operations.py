"""`/request` and `/api/request`: what customers ask about their orders, and the answers."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.customer_requests.handle_requests import (
    RequestAnswer,
    RequestedUnits,
    close_request,
    fetch_request,
    open_request,
)
from tradecounter.customer_requests.queries import CustomerRequest, State, count_requests, request_table
from tradecounter.customer_requests.wire import (
    OpenRequestRequest,
    RequestItem,
    ResellerRequest,
    SupportRequest,
    own_request,
    present_request,
)
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import ChangingParameters, Desk
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import Described, ListPage, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.edge.rest.headers import PAGING, RETRY_AFTER
from tradecounter.edge.rest.operation import ErrorResponse, Sample
from tradecounter.edge.rest.paging import COUNTED_BY_SIZE
from tradecounter.edge.rest.record_lists import Layout, PagedList, RecordLists
from tradecounter.identity.admission import sender_of
from tradecounter.kit.errors import Code

_CANCEL = OpenRequestRequest(
    kind="cancel",
    order_reference="PLN-100007",
    items=[RequestedUnits(700012, 2)],
    text="Two routers too many.",
)
_MESSAGE = OpenRequestRequest(kind="message", order_reference="PLN-100004", text="Where is the second box?")
_ITEMS = [RequestItem(id=700012, sku="HM310", quantity=2)]
_OPEN_REQUEST = SupportRequest(
    id=12,
    kind="cancel",
    state="open",
    order_reference="PLN-100007",
    items=_ITEMS,
    text="Two routers too many.",
    opened_on="2026-06-16T10:12:44",
)
_REQUEST = replace(_OPEN_REQUEST, state="closed", closed_on="2026-06-16T11:30:00", answer="Two are cancelled.")
_RESELLER_REQUEST = ResellerRequest(
    id=12,
    kind="cancel",
    state="closed",
    order_reference="PLN-100007",
    items=_ITEMS,
    text="Two routers too many.",
    customer_id=1001,
    asked_by="Shop",
    opened_at=datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC),
    closed_at=datetime(2026, 6, 16, 10, 30, tzinfo=UTC),
    closed_by="ERP",
    answer="Two are cancelled.",
    files=[],
)
_STAFF_DESCRIBED: Mapping[type, Described] = {
    ResellerRequest: Described("The request.", _RESELLER_REQUEST, "Request"),
    RequestAnswer: Described("", RequestAnswer("Two are cancelled."), "Answer"),
}
_LAYOUT: Layout[SupportRequest] = Layout("requests")
_CONFLICT = ErrorResponse(
    409,
    "Too many of your requests wait for an answer; or, with `Retry-After`, an earlier request with the same "
    "`Idempotency-Key` is still being processed.",
    "50 requests wait for us already: give us some time for them",
    (RETRY_AFTER,),
    code=Code.TOO_MANY_PENDING,
)
_OPEN = Described("The request, which is open.", _OPEN_REQUEST, "Request")
_OWN_DESCRIBED: Mapping[type, Described] = {
    SupportRequest: Described("", _REQUEST),
    OpenRequestRequest: Described("", _CANCEL, "To cancel units", {"A message": _MESSAGE}),
}
_OWN_REQUESTS = Subject(tag="Orders", keys=("account",), described=_OWN_DESCRIBED)


class OwnRequestListParameters(PagedList, frozen=True, kw_only=True):
    """The parameters of `GET /request`."""

    state: Annotated[State, Meta(description="Only requests in this state.", examples=["open"])] | None = None


class _OwnRequests(Struct, frozen=True):
    """A customer's requests in a state, or in any."""

    customer_id: int
    state: State | None

    async def count(self, tx: Transaction) -> int:
        return await count_requests(tx, self.customer_id, self.state)

    async def read(
        self, tx: Transaction, most: int, start: int, after: CustomerRequest | None
    ) -> Sequence[CustomerRequest]:
        before = None if after is None else after.id
        return await request_table(tx, self.state, most, before, customer_id=self.customer_id, start=start)

    async def shown(self, _tx: Transaction, rows: Sequence[CustomerRequest]) -> Sequence[SupportRequest]:
        return [own_request(request) for request in rows]


class RequestEndpoints(Struct, frozen=True):
    """The endpoints of requests to support."""

    desk: Desk
    lists: RecordLists

    @_OWN_REQUESTS.shows(
        "/request",
        "The requests of one page.",
        headers=PAGING,
        description="With the answer once support has closed one; also those from the account's pages. "
        + COUNTED_BY_SIZE,
        sample=Sample({"limit": "3"}),
        cacheable=True,
    )
    async def list_requests(self, call: Call, query: OwnRequestListParameters) -> list[SupportRequest] | Response:
        """List your requests to support, newest first."""
        return await self.lists.respond(call, query, _OwnRequests(call.customer_id, query.state), _LAYOUT)

    @_OWN_REQUESTS.changes(
        "POST",
        "/request",
        _OPEN,
        created=True,
        keyed=True,
        key_scopes=("order", "account"),
        errors=(NOT_FOUND, _CONFLICT),
    )
    async def open_request(
        self, tx: Transaction, now: datetime, call: Call, body: OpenRequestRequest
    ) -> SupportRequest:
        """Ask support about an order.

        To cancel units that are not dispatched, to take dispatched ones back, or anything else in words. Nothing
        changes until support has done it: `GET /request` has the answer, which the account also gets by e-mail, and the
        event `request.closed` says when. A message needs a key with the scope `account`.
        """
        if body.kind == "message":
            sender_of(call.request.scope).require_one_of("account")
        request_id = await open_request(tx, call.customer_id, body.order_reference, body.kind, body, now)
        return own_request(await fetch_request(tx, request_id))


_STAFF_REQUESTS = Subject(tag="Orders", read="orders:read", write="orders:write", described=_STAFF_DESCRIBED)
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

    @_STAFF_REQUESTS.lists(_ALL, "The requests.")
    async def list_requests(self, tx: Transaction, query: RequestListParameters) -> ListPage[ResellerRequest]:
        """Requests of all customers about their orders.

        To cancel units, to return them, or anything else in words. The latest first.
        """
        requests = await request_table(
            tx,
            query.state,
            query.limit + 1,
            query.after or None,
            customer_id=query.customer_id,
            changed_since=query.since,
        )
        return ListPage(requests, map(present_request, requests))

    @_STAFF_REQUESTS.shows(_ONE)
    async def get_request(self, tx: Transaction, request_id: RequestId) -> ResellerRequest:
        """One request."""
        return present_request(await fetch_request(tx, request_id))

    @_STAFF_REQUESTS.changes("POST", f"{_ONE}/close", roles=("support", "administrator"))
    async def close_request(
        self, tx: Transaction, now: datetime, request_id: RequestId, body: RequestAnswer
    ) -> ResellerRequest:
        """Close a request with an answer.

        Who asked gets the answer by e-mail: the user, or the account if a program asked. Do first what is asked. 409 if
        it is closed already.
        """
        return present_request(await close_request(tx, request_id, body.text, now))
