"""`/request` with GET and POST: what a customer's programs ask support about orders."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.customer_requests.handle_requests import fetch_request, open_request
from tradecounter.customer_requests.operations.examples import CANCEL, MESSAGE, OPEN_REQUEST, REQUEST
from tradecounter.customer_requests.queries import CustomerRequest, State, count_requests, request_table
from tradecounter.customer_requests.wire import OpenRequestRequest, SupportRequest, own_request
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Desk
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.edge.rest.headers import PAGING, RETRY_AFTER
from tradecounter.edge.rest.operation import ErrorResponse, Sample
from tradecounter.edge.rest.paging import COUNTED_BY_SIZE
from tradecounter.edge.rest.record_lists import Layout, PagedList, RecordLists
from tradecounter.identity.admission import sender_of
from tradecounter.kit.error_codes import Code

_LAYOUT: Layout[SupportRequest] = Layout("requests")
_CONFLICT = ErrorResponse(
    409,
    "Too many of your requests wait for an answer; or, with `Retry-After`, an earlier request with the same "
    "`Idempotency-Key` is still being processed.",
    "50 requests wait for us already: give us some time for them",
    (RETRY_AFTER,),
    code=Code.TOO_MANY_PENDING,
)
_OPEN = Described("The request, which is open.", OPEN_REQUEST, "Request")
_DESCRIBED: Mapping[type, Described] = {
    SupportRequest: Described("", REQUEST),
    OpenRequestRequest: Described("", CANCEL, "To cancel units", {"A message": MESSAGE}),
}
_SUPPORT = Subject(tag="Orders", keys=("account",), described=_DESCRIBED)


class RequestList(PagedList, frozen=True, kw_only=True):
    """The parameters of `GET /request`."""

    state: Annotated[State, Meta(description="Only requests in this state.", examples=["open"])] | None = None


class _Requests(Struct, frozen=True):
    """A customer's requests in a state, or in any."""

    customer_id: int
    state: State | None

    async def count(self, tx: Transaction) -> int:
        return await count_requests(tx, self.customer_id, self.state)

    async def read(
        self, tx: Transaction, most: int, start: int, behind: CustomerRequest | None
    ) -> Sequence[CustomerRequest]:
        before = None if behind is None else behind.id
        return await request_table(tx, self.state, most, before, customer_id=self.customer_id, start=start)

    async def shown(self, _tx: Transaction, rows: Sequence[CustomerRequest]) -> Sequence[SupportRequest]:
        return [own_request(request) for request in rows]


class RequestEndpoints(Struct, frozen=True):
    """The endpoints of requests to support."""

    desk: Desk
    lists: RecordLists

    @_SUPPORT.shows(
        "/request",
        "The requests of one page.",
        headers=PAGING,
        description="With the answer once support has closed one; also those from the account's pages. "
        + COUNTED_BY_SIZE,
        sample=Sample({"limit": "3"}),
        cacheable=True,
    )
    async def list_requests(self, call: Call, query: RequestList) -> list[SupportRequest] | Response:
        """List your requests to support, newest first."""
        return await self.lists.respond(call, query, _Requests(call.customer_id, query.state), _LAYOUT)

    @_SUPPORT.changes(
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
