"""`GET /feed/{secret}.csv`: a customer's feed, for programs that can open an address but send no key."""

import asyncio
from decimal import Decimal

import msgspec
from msgspec import Struct, field
from starlette.responses import Response
from starlette.types import Scope

from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.edge.rest.conditional import conditional_response
from tradecounter.edge.rest.negotiation import CSV, attachment
from tradecounter.edge.rest.operation import TEXT, Media, Operation, Parameter, Success, endpoint
from tradecounter.edge.rest.paging import note_size
from tradecounter.edge.rest.responses import ChunkedResponse
from tradecounter.feeds.queries import FeedRecord
from tradecounter.feeds.render import render_feed
from tradecounter.feeds.wire import filter_from
from tradecounter.kit import csv_text
from tradecounter.kit.digest import digest_of
from tradecounter.storefront.find_in_view import find_products
from tradecounter.storefront.storefront import RefreshableViews
from tradecounter.storefront.view import CustomerView

_FEED = "tradecounter.feed"  # in the ASGI scope: the feed of the request's address


def note_feed(scope: Scope, feed: FeedRecord) -> None:
    """Note the feed that a request was admitted to."""
    scope[_FEED] = feed


class FeedEndpoints(Struct, frozen=True):
    """The address of feeds; `vat_rate` is that on deliveries in the country, in per cent."""

    views: RefreshableViews
    vat_rate: Decimal
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # shared by all feeds

    @endpoint(
        Operation(
            method="GET",
            path="/feed/{secret}.csv",
            name="getFeed",
            tag="Catalogue",
            summary="A feed",
            path_parameters=(Parameter("secret", "The secret in the feed's address.", TEXT, "0" * 64),),
            success=Success(200, "The products.", media_types={CSV: Media({"type": "string"})}),
            errors=(NOT_FOUND,),
            cacheable=True,
        )
    )
    async def show_feed(self, call: Call) -> Response:
        feed: FeedRecord = call.request.scope[_FEED]
        view = await self.views.of(call.customer_id)
        return conditional_response(call, self._digest(view, feed), CSV, lambda: self._file(call, view, feed))

    def _digest(self, view: CustomerView, feed: FeedRecord) -> bytes:
        chosen = (feed.columns, feed.filter, feed.markup, feed.rounding, feed.vat_included, self.vat_rate)
        return digest_of(view.digest, msgspec.json.encode(chosen))

    def _file(self, call: Call, view: CustomerView, feed: FeedRecord) -> Response:
        rows = find_products(view, filter_from(feed.filter).parameters)[:]
        note_size(call.request.scope, len(rows))
        chunks = render_feed(view, feed, rows, self.vat_rate)
        headers = attachment(call.accept, CSV, "products")
        return ChunkedResponse(chunks, self.lock, headers=headers, media_type=csv_text.MEDIA_TYPE)
