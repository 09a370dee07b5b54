"""`GET /docs` and `GET /guide`, and `GET /api/docs` of the back office."""

import asyncio
from collections.abc import Callable

from msgspec import Struct
from starlette.responses import Response

from tradecounter.edge.page_kit.page import Page, page_endpoint
from tradecounter.edge.rest.call import Call


class DocsPages(Struct, frozen=True):
    """The pages; each function renders its page at its first call and caches the result.

    Rendering takes a few hundred milliseconds, so it runs in a thread.
    """

    reference: Callable[[], Page]
    guide: Callable[[], Page]

    @page_endpoint("/docs", "The API reference")
    async def show_reference(self, call: Call) -> Response:
        return (await asyncio.to_thread(self.reference)).response(call)

    @page_endpoint("/guide", "The guide for API customers")
    async def show_guide(self, call: Call) -> Response:
        return (await asyncio.to_thread(self.guide)).response(call)


class BackOfficeDocs(Struct, frozen=True):
    """The reference of the back office, rendered as `DocsPages` does."""

    reference: Callable[[], Page]

    @page_endpoint("/api/docs", "The reference of the back-office API")
    async def show_reference(self, call: Call) -> Response:
        return (await asyncio.to_thread(self.reference)).response(call)
