"""`GET /docs` and `GET /guide`; they are for people, so the interface document does not list them."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from starlette.responses import Response

from tradecounter.page_kit.page import Page
from tradecounter.rest.call import Call
from tradecounter.rest.operation import Operation, Success, endpoint


@dataclass(frozen=True, slots=True)
class DocsPages:
    """The pages; each function makes its page, at the first request for it, and returns the same one afterwards.

    Making one takes some hundred milliseconds, in which other requests are to be answered: it is done in a thread.
    """

    reference: Callable[[], Page]
    guide: Callable[[], Page]

    @endpoint(
        Operation(
            method="GET",
            path="/docs",
            name="showReference",
            tag="Service",
            summary="The API reference",
            success=Success(200, "A page."),
            public=True,
        )
    )
    async def show_reference(self, call: Call) -> Response:
        """Send the reference."""
        return (await asyncio.to_thread(self.reference)).response(call)

    @endpoint(
        Operation(
            method="GET",
            path="/guide",
            name="showGuide",
            tag="Service",
            summary="The guide for API customers",
            success=Success(200, "A page."),
            public=True,
        )
    )
    async def show_guide(self, call: Call) -> Response:
        """Send the guide."""
        return (await asyncio.to_thread(self.guide)).response(call)
