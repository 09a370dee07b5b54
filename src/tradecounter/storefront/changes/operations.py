"""`GET /catalogue/change`: what differs in a customer's catalogue since a cursor."""

from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.headers import CURSOR
from tradecounter.edge.rest.negotiation import JSON
from tradecounter.edge.rest.operation import ErrorResponse, Sample
from tradecounter.kit.error_codes import Code
from tradecounter.storefront.changes.cursor import expired_cursor
from tradecounter.storefront.changes.follow import ChangeFeed
from tradecounter.storefront.changes.wire import CHANGES, CatalogueChange

CURSOR_EXPIRED = ErrorResponse(
    410,
    "The cursor has expired, or the database was replaced: read the catalogue again, and go on from the `X-Cursor` "
    "of the first response.",
    expired_cursor().message,
    name="CursorExpired",
    code=Code.CURSOR_EXPIRED,
)
_CHANGES = Described("The changes.", CHANGES, "Changes")
_CATALOGUE = Subject(tag="Catalogue", keys=("read",))


class ChangeParameters(Struct, frozen=True):
    """The query parameters of `GET /catalogue/change`."""

    after: Annotated[
        Annotated[str, Meta(max_length=4_000)] | None,
        Meta(
            description="The `X-Cursor` of an earlier response. Without it, or empty, the response has no changes, "
            "only a cursor, which what changes from now on follows.",
            examples=[""],
        ),
    ] = None
    limit: Annotated[
        int, Meta(ge=1, le=500, description="Products per response: 100 by default, at most 500.", examples=[100])
    ] = 100
    wait: Annotated[
        int,
        Meta(
            ge=0, le=20, description="Seconds to wait while there is no change; 0 by default, at most 20.", examples=[0]
        ),
    ] = 0


class ChangeEndpoints(Struct, frozen=True):
    """The endpoint of the change feed; it responds from memory."""

    feed: ChangeFeed

    @_CATALOGUE.shows(
        "/catalogue/change", _CHANGES, headers=(CURSOR,), errors=(CURSOR_EXPIRED,), sample=Sample({"limit": "100"})
    )
    async def list_catalogue_changes(self, call: Call, query: ChangeParameters) -> list[CatalogueChange] | Response:
        """What has changed in your catalogue.

        Products that differ from your copy: their details, your prices, stock or expected deliveries have changed, they
        are new, or you cannot buy them any more. Apply the changes in their order, store `X-Cursor` with your copy, and
        send it as `after` with the next request; go on until the response is empty. A product may be sent again
        although it is as you have it. With `wait`, a request without a change gets its response as soon as there is
        one.
        """
        if not query.after:
            page = await self.feed.start(call.customer_id)
        else:
            page = await self.feed.page(call.customer_id, query.after, query.limit, query.wait)
        return Response(page.body, media_type=JSON, headers={CURSOR.name: page.cursor.decode()})
