"""`GET /request-log`: what a program has requested."""

from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Desk
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.headers import NEXT_LINK
from tradecounter.edge.rest.operation import Sample
from tradecounter.edge.rest.paging import next_link
from tradecounter.edge.rest.responses import json_response
from tradecounter.identity.admission import sender_of
from tradecounter.request_log.queries import list_requests
from tradecounter.request_log.recorder import caller_of
from tradecounter.request_log.wire import ERROR, READS, LoggedRequest, logged_request


class RequestLogParameters(Struct, frozen=True):
    """The query parameters of `GET /request-log`."""

    after: Annotated[int, Meta(ge=0, description="A position in the list, from the `Link` header.", examples=[0])] = 0
    limit: Annotated[
        int, Meta(ge=1, le=500, description="Entries per response: 100 by default, at most 500.", examples=[20])
    ] = 100
    errors: Annotated[bool, Meta(description="`true`: errors only.", examples=["false"])] = False


_ENTRIES = Described("The entries.", [ERROR, READS], "List")
_LOG = Subject(tag="Service", keys=("account",))


class RequestLogEndpoints(Struct, frozen=True):
    """The endpoint of a program's own requests."""

    desk: Desk

    @_LOG.shows("/request-log", _ENTRIES, headers=(NEXT_LINK,), sample=Sample({"limit": "20"}))
    async def get_request_log(
        self, tx: Transaction, call: Call, query: RequestLogParameters
    ) -> list[LoggedRequest] | Response:
        """What your program has requested.

        The requests of the last seven days with the key that asks, or of the application that asks, the latest first.
        Each error and each write is an entry of its own; reads, and errors beyond a hundred a minute, are counted by
        minute. A request is listed a second after it ended.
        """
        holder = sender_of(call.request.scope).holder
        if holder is None:
            raise RuntimeError("an admitted request has a key or a token")
        caller = caller_of(holder)
        requests = await list_requests(
            tx, holder.customer_id, caller, query.limit + 1, before=query.after or None, errors=query.errors
        )
        shown = requests[: query.limit]
        headers = next_link(call, shown[-1].id) if len(requests) > query.limit else {}
        return json_response([logged_request(record) for record in shown], headers=headers)
