"""Sends HTML pages, which are rendered once for all clients."""

from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import escape
from starlette.responses import Response

from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.conditional import conditional_response
from tradecounter.edge.rest.operation import ANY_ADDRESS, Method, Operation, Success, endpoint
from tradecounter.kit.digest import digest_of

_MEDIA_TYPE = "text/html"
# All content comes from the service; no inline scripts or styles. Only scripts send forms (`form-action 'none'`), so
# that a key in a form never becomes part of a URL.
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def page_endpoint(path: str, summary: str) -> Callable[[Method], Method]:
    """Mark a method that sends a page or a static file; the interface document does not list it."""
    success = Success(200, summary)
    return endpoint(
        Operation(method="GET", path=path, name=path, tag="Service", summary=summary, success=success, public=True)
    )


@dataclass(frozen=True, slots=True)
class Page:
    """A page's HTML with ANY_ADDRESS in place of the base URL, and its digest."""

    text: str
    digest: bytes

    @classmethod
    def of(cls, text: str) -> "Page":
        """Return the page for an HTML string."""
        return cls(text, digest_of(text.encode()))

    def response(self, call: Call) -> Response:
        """Return the page for the call's base URL, or 304 if the client has the current page."""

        def render() -> Response:
            # Escaped, because the URL is inserted into HTML.
            text = self.text.replace(ANY_ADDRESS, str(escape(call.base_url)))
            return Response(text, media_type=_MEDIA_TYPE, headers={"Content-Security-Policy": CONTENT_POLICY})

        response = conditional_response(call, self.digest, _MEDIA_TYPE, render)
        response.headers["Content-Security-Policy"] = CONTENT_POLICY
        return response
