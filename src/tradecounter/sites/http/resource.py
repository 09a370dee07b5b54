"""The resource at one path, which calls the endpoint for a method, and direct calls without ASGI."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import cast

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.contextvars import bind_contextvars

from tradecounter.db.pipeline import OutdatedStatementError
from tradecounter.edge.rest.call import Call, add_ignored
from tradecounter.edge.rest.headers import mark_deprecated
from tradecounter.edge.rest.negotiation import accepted_codings
from tradecounter.edge.rest.operation import Endpoint, Operation
from tradecounter.edge.rest.paging import requests_noted
from tradecounter.edge.rest.parameters import unknown_parameters
from tradecounter.edge.rest.responses import Failure, error_page_of, error_response
from tradecounter.edge.server.compression import Compression, compress_short
from tradecounter.identity.admission import sender_of
from tradecounter.kit.actor import Actor
from tradecounter.kit.errors import Code
from tradecounter.sites.http.errors import ErrorMiddleware
from tradecounter.sites.http.request_context import require_readable
from tradecounter.sites.http.request_head import SAFE_METHODS, WITHOUT_CHUNKS

_OK = 200
_METHOD_NOT_ALLOWED = 405
_WAITED_SECONDS = 1.0


class Gate:
    """Admits requests to a site. By default, no request waits, and no requests are counted."""

    async def admit(self, request: Request, operation: Operation) -> int | None:
        """Admit a request to an operation that is not public, and return its customer, if it has one.

        Raises DomainError.
        """
        raise NotImplementedError

    async def check_again(self, request: Request) -> None:
        """Check that an admitted request that has waited would still be admitted. Raises DomainError."""

    def actor_of(self, scope: Scope) -> Actor:
        """Return the actor of the changes that an admitted request makes."""
        raise NotImplementedError

    def count_more(self, request: Request, customer_id: int, requests: int) -> None:
        """Count a long response as several requests."""


class Resource:
    """An ASGI application for the endpoints of one path; a GET endpoint also handles HEAD."""

    def __init__(
        self,
        path: str,
        endpoints: Iterable[Endpoint],
        gate: Gate,
        base_url: Callable[[Request], str],
        max_body_bytes: int,
    ) -> None:
        self._path = path
        self._endpoints = {endpoint.operation.method: endpoint for endpoint in endpoints}
        if "GET" in self._endpoints:
            self._endpoints["HEAD"] = self._endpoints["GET"]
        self._allow = ", ".join(sorted({*self._endpoints, "OPTIONS"}))
        self._gate = gate
        self._base_url = base_url
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request. Raises DomainError."""
        response = await self.respond(Request(scope, receive))
        await response(scope, receive, send)

    async def respond(self, request: Request) -> Response:
        """Return the response to a request. Raises DomainError."""
        sender_of(request.scope).route = self._path
        bind_contextvars(route=self._path)  # in all log lines of the request
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"Allow": self._allow})
        endpoint = self._endpoints.get(request.method)
        if endpoint is None:
            return self._method_error(request)
        operation = endpoint.operation
        customer_id = None if operation.public else await self._gate.admit(request, operation)
        if raw_query := request.scope["query_string"].decode("latin-1"):
            add_ignored(request.scope, unknown_parameters(raw_query, operation.query))
        shapes = (operation.body and operation.body.type, operation.success.body)
        call = Call(request, self._base_url, self._max_body_bytes, customer_id, self._gate.actor_of, shapes)
        began = time.monotonic()
        response = await _handled(endpoint, call)
        if not operation.public and request.method in SAFE_METHODS and time.monotonic() - began > _WAITED_SECONDS:
            # A key that was disabled meanwhile must not hear of what has happened since.
            await self._gate.check_again(request)
        if operation.deprecation is not None:
            mark_deprecated(response, operation, call.base_url)
        more = requests_noted(request.scope) - 1
        if more and customer_id is not None and response.status_code == _OK and request.method != "HEAD":
            self._gate.count_more(request, customer_id, more)
        return response

    def _method_error(self, request: Request) -> Response:
        message = f"{request.method} is not allowed here; use {self._allow}"
        headers = {"Allow": self._allow}
        if (page := error_page_of(request.scope)) is not None:
            return page(request, Failure(_METHOD_NOT_ALLOWED, message, LookupError(message), headers))
        return error_response(message, Code.METHOD_NOT_ALLOWED, _METHOD_NOT_ALLOWED, headers)


async def _handled(endpoint: Endpoint, call: Call) -> Response:
    try:
        return await endpoint.handler(call)
    except OutdatedStatementError:
        if call.request.method not in SAFE_METHODS:
            raise
        return await endpoint.handler(call)  # no response was sent yet, and the pool has new connections


class DirectCalls:
    """Responds to requests of HTTP/1.1 for some routes; `app` responds to all others, and to other origins' pages.

    Between the request's context and an endpoint stand applications that call each other: for HTTP/1.0, for pages of
    other origins, for compression, for errors, for pages' errors, and the router. Each wraps the next one's messages.
    For a request whose response is whole, what they do is a few calls of functions, which come here one after the
    other.
    """

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
        if scope["type"] != "http" or scope["http_version"] == WITHOUT_CHUNKS:
            return None
        for name, _ in scope["headers"]:
            if name == b"origin":
                return None
        for route in self._routes.get(_first_segment(scope["path"]), ()):
            match, child_scope = route.matches(scope)
            if match is Match.FULL:
                scope.update(child_scope)
                return cast("Resource", route.endpoint)
        return None


def _first_segment(path: str) -> str:
    return path.split("/", 2)[1] if path.startswith("/") else ""


def _is_whole(response: Response) -> bool:
    """Return whether a response sends its body in one message."""
    return type(response).__call__ is Response.__call__ and response.background is None
