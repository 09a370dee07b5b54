"""Calls the endpoints of customers' programs without the layers of ASGI that would do nothing for them.

Between the request's context and an endpoint stand applications that call each other: for HTTP/1.0, for pages of other
origins, for compression, for errors, for pages' errors, and the router. Each wraps the next one's messages. For a
request whose response is whole, what they do is a few calls of functions, which come here one after the other.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import cast

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tradecounter.edge.rest.codings import accepted_codings
from tradecounter.edge.server.compression import Compression, compress_short
from tradecounter.sites.http.errors import ErrorMiddleware
from tradecounter.sites.http.request_context import require_readable
from tradecounter.sites.http.resource import Resource

_WITHOUT_CHUNKS = "1.0"


class DirectCalls:
    """Responds to requests of HTTP/1.1 for some routes; `app` responds to all others, and to other origins' pages."""

    def __init__(
        self, app: ASGIApp, routes: Iterable[Route], errors: ErrorMiddleware, compression: Compression
    ) -> None:
        """Take routes to resources. Raises ValueError for a path that begins with a parameter."""
        self._app = app
        self._errors = errors
        self._compression = compression
        self._routes: defaultdict[str, list[Route]] = defaultdict(list)  # by the first segment of their paths
        for route in routes:
            first = _first_segment(route.path)
            if "{" in first:
                raise ValueError(f"{route.path} begins with a parameter")
            self._routes[first].append(route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the endpoint of a request and send its response, or pass the request on."""
        resource = self._found(scope)
        if resource is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            require_readable(scope)
            response = await resource.respond(request)
        except ClientDisconnect:
            raise
        except Exception as error:  # noqa: BLE001 which gets a response
            response = self._errors.response(error, request)
        if _is_whole(response) and compress_short(response, accepted_codings(scope)):
            await send({"type": "http.response.start", "status": response.status_code, "headers": response.raw_headers})
            await send({"type": "http.response.body", "body": response.body})
        else:
            await self._compression.call(self._errors.around(response), scope, receive, send)

    def _found(self, scope: Scope) -> Resource | None:
        """Return the resource of a request, with its parameters in the scope; None if `app` must respond."""
        if scope["type"] != "http" or scope["http_version"] == _WITHOUT_CHUNKS:
            return None
        for name, _ in scope["headers"]:
            if name == b"origin":
                return None
        for route in self._routes.get(_first_segment(scope["path"]), ()):
            match, found = route.matches(scope)
            if match is Match.FULL:
                scope.update(found)
                return cast("Resource", route.endpoint)
        return None


def _first_segment(path: str) -> str:
    return path.split("/", 2)[1] if path.startswith("/") else ""


def _is_whole(response: Response) -> bool:
    """Return whether a response sends its body in one message."""
    return type(response).__call__ is Response.__call__ and response.background is None
