"""The resource at one path: admits a request and calls the endpoint for its method."""

import time
from collections.abc import Callable, Iterable
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from structlog.contextvars import bind_contextvars

from tradecounter.db.pipeline import OutdatedStatementError
from tradecounter.edge.rest.call import Call, add_ignored
from tradecounter.edge.rest.deprecation import mark_deprecated
from tradecounter.edge.rest.error_pages import Failure, error_page_of
from tradecounter.edge.rest.ignored import unknown_parameters
from tradecounter.edge.rest.operation import Endpoint, Operation
from tradecounter.edge.rest.paging import requests_noted
from tradecounter.edge.rest.responses import error_response
from tradecounter.identity.admission import sender_of
from tradecounter.kit.actor import Actor
from tradecounter.kit.error_codes import Code

_SAFE = {"GET", "HEAD"}
_OK = 200
_METHOD_NOT_ALLOWED = 405
_WAITED_SECONDS = 1.0


class Gate(Protocol):
    """Admits requests to a site."""

    async def admit(self, request: Request, operation: Operation) -> int | None:
        """Admit a request to an operation that is not public, and return its customer, if it has one.

        Raises DomainError.
        """
        ...

    async def check_again(self, request: Request) -> None:
        """Check that an admitted request that has waited would still be admitted. Raises DomainError."""
        ...

    def actor_of(self, scope: Scope) -> Actor:
        """Return the actor of the changes that an admitted request makes."""
        ...

    def count_more(self, request: Request, customer_id: int, requests: int) -> None:
        """Count a long response as several requests."""
        ...


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
        if not operation.public and request.method in _SAFE and time.monotonic() - began > _WAITED_SECONDS:
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
        if call.request.method not in _SAFE:
            raise
        return await endpoint.handler(call)  # no response was sent yet, and the pool has new connections
