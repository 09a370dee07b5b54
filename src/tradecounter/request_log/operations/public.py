"""`GET /request-log`: what a program has requested."""

from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.headers import NEXT_LINK
from tradecounter.edge.rest.operation import Operation, Sample, Success, endpoint
from tradecounter.edge.rest.paging import next_link
from tradecounter.edge.rest.responses import json_response
from tradecounter.identity.admission import sender_of
from tradecounter.request_log.queries import list_requests
from tradecounter.request_log.recorder import caller_of
from tradecounter.request_log.wire import ERROR, READS, LoggedRequest, OnlyErrors, logged_request


class RequestLogParameters(Struct, frozen=True):
    """The query parameters of `GET /request-log`."""

    after: Annotated[int, Meta(ge=0, description="A position in the list, from the `Link` header.", examples=[0])] = 0
    limit: Annotated[int, Meta(ge=1, le=500, description="Entries per response: 100 by default.", examples=[20])] = 100
    errors: Annotated[OnlyErrors, Meta(description="`true`: errors only.", examples=["false"])] = "false"


class RequestLogEndpoints(Struct, frozen=True):
    """The endpoint of a program's own requests."""

    database: Database

    @endpoint(
        Operation(
            method="GET",
            path="/request-log",
            name="getRequestLog",
            key_scopes=("account",),
            tag="Service",
            summary="What your program has requested",
            description="The requests of the last seven days with the key that asks, or of the application that "
            "asks, the latest first. Each error and each write is an entry of its own; reads, and errors beyond a "
            "hundred a minute, are counted by minute. A request is listed a second after it ended.",
            query=RequestLogParameters,
            success=Success(200, "The entries.", list[LoggedRequest], {"List": [ERROR, READS]}, headers=(NEXT_LINK,)),
            sample=Sample({"limit": "20"}),
        )
    )
    async def show_log(self, call: Call) -> Response:
        wanted = call.query(RequestLogParameters)
        holder = sender_of(call.request.scope).holder
        if holder is None:
            raise RuntimeError("an admitted request has a key or a token")
        async with reading(self.database) as tx:
            found = await list_requests(
                tx,
                holder.customer_id,
                caller_of(holder),
                wanted.limit + 1,
                after=wanted.after,
                errors=wanted.errors == "true",
            )
        shown = found[: wanted.limit]
        headers = next_link(call, shown[-1].id) if len(found) > wanted.limit else {}
        return json_response([logged_request(record) for record in shown], headers=headers)
