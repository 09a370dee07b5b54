"""Sending an HTML page that is made once for all clients."""

from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import escape
from starlette.responses import Response

from tradecounter.kit.digest import digest_of
from tradecounter.page_kit.content_policy import CONTENT_POLICY
from tradecounter.rest.any_address import ANY_ADDRESS
from tradecounter.rest.call import Call
from tradecounter.rest.conditional import conditional_response
from tradecounter.rest.operation import Method, Operation, Success, endpoint

_MEDIA_TYPE = "text/html"


def page_endpoint(path: str, summary: str) -> Callable[[Method], Method]:
    """Mark a method as sending a page, or a file of pages: for people, so the interface document does not list it."""
    success = Success(200, summary)
    return endpoint(
        Operation(method="GET", path=path, name=path, tag="Service", summary=summary, success=success, public=True)
    )


@dataclass(frozen=True, slots=True)
class Page:
    """A page with ANY_ADDRESS for the base address, and the digest of its text."""

    text: str
    digest: bytes

    @classmethod
    def of(cls, text: str) -> "Page":
        """Return the page with this text."""
        return cls(text, digest_of(text.encode()))

    def response(self, call: Call) -> Response:
        """Return the page for the base address of the call, or 304 when the client has the current one."""

        def render() -> Response:
            # Markup that is escaped in attributes and in text alike.
            text = self.text.replace(ANY_ADDRESS, str(escape(call.base_url)))
            return Response(text, media_type=_MEDIA_TYPE, headers={"Content-Security-Policy": CONTENT_POLICY})

        response = conditional_response(call, self.digest, _MEDIA_TYPE, render)
        response.headers["Content-Security-Policy"] = CONTENT_POLICY
        return response
