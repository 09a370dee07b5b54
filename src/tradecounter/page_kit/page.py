"""Sends HTML pages, which are rendered once for all clients."""

from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import escape
from starlette.responses import Response

from tradecounter.kit.digest import digest_of
from tradecounter.rest.any_address import ANY_ADDRESS
from tradecounter.rest.call import Call
from tradecounter.rest.conditional import conditional_response
from tradecounter.rest.operation import Method, Operation, Success, endpoint

_MEDIA_TYPE = "text/html"
# Everything from the service itself, no inline script or style. Only scripts send forms (`form-action 'none'`), so that
# a key in a form never becomes part of an address.
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def page_endpoint(path: str, summary: str) -> Callable[[Method], Method]:
    """Mark a method that sends a page or a file of pages, which the interface document does not list."""
    success = Success(200, summary)
    return endpoint(
        Operation(method="GET", path=path, name=path, tag="Service", summary=summary, success=success, public=True)
    )


@dataclass(frozen=True, slots=True)
class Page:
    """A page with ANY_ADDRESS in place of the base address, and the digest of its text."""

    text: str
    digest: bytes

    @classmethod
    def of(cls, text: str) -> "Page":
        """Return the page with a text."""
        return cls(text, digest_of(text.encode()))

    def response(self, call: Call) -> Response:
        """Return the page for the base address of the call, or 304 when the client has the current one."""

        def render() -> Response:
            # Escaped for attributes and text.
            text = self.text.replace(ANY_ADDRESS, str(escape(call.base_url)))
            return Response(text, media_type=_MEDIA_TYPE, headers={"Content-Security-Policy": CONTENT_POLICY})

        response = conditional_response(call, self.digest, _MEDIA_TYPE, render)
        response.headers["Content-Security-Policy"] = CONTENT_POLICY
        return response
