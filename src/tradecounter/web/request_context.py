"""The context of a request, read once and kept in the ASGI scope, and the middleware for its id and its log line."""

import random
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

import structlog
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tradecounter.identity.admission import SENDER, Sender
from tradecounter.identity.client_address import ClientAddresses
from tradecounter.rest.call import response_headers
from tradecounter.rest.responses import Header
from tradecounter.storefront.view import CustomerView
from tradecounter.web.fast_path.response_cache import CacheKey
from tradecounter.web.request_head import RequestHead, read_head

log = structlog.get_logger()

_SANE_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_FAULT = 500


@dataclass(slots=True)
class RequestContext(Sender):
    """The context of a request; `view` and the cache `key` are set when the response may come from the cache."""

    head: RequestHead
    request_id: str
    view: CustomerView | None = None
    key: CacheKey | None = None


def new_context(head: RequestHead, peer: str | None, addresses: ClientAddresses) -> RequestContext:
    """Return the context of a request from a peer."""
    hops, given = head.hops, head.request_id
    request_id = given if given and _SANE_REQUEST_ID.fullmatch(given) else f"{random.getrandbits(64):016x}"
    return RequestContext(peer, hops, addresses.of(peer, hops), head.credential, None, None, head, request_id)


def context_of(scope: Scope, addresses: ClientAddresses) -> RequestContext:
    """Return the context of a request; read it if it is not in the scope yet."""
    context: RequestContext | None = scope.get(SENDER)
    if context is None:
        client = scope.get("client")
        context = scope[SENDER] = new_context(read_head(scope, addresses), client[0] if client else None, addresses)
    return context


def request_id_of(scope: Scope) -> str:
    """Return the id of a request with a context."""
    context: RequestContext = scope[SENDER]
    return context.request_id


class RequestContextMiddleware:
    """Adds the request id and the standing headers to every response, forbids caching by default, and logs requests."""

    def __init__(
        self, app: ASGIApp, standing_headers: Sequence[Header], addresses: ClientAddresses, *, log_requests: bool
    ) -> None:
        self._app = app
        self._standing_headers = standing_headers
        self._addresses = addresses
        self._log_requests = log_requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; complete the headers of its response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        context = context_of(scope, self._addresses)
        status = 0
        started = time.perf_counter()

        async def send_completed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = context.request_id
                headers.update(response_headers(scope))
                headers.setdefault("Cache-Control", "no-store")
                present = {name for name, _ in headers.raw}
                headers.raw.extend(header for header in self._standing_headers if header[0] not in present)
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=context.request_id):
            try:
                await self._app(scope, receive, send_completed)
            except ClientDisconnect:
                log.info("client went away", path=request.url.path)
            if self._log_requests or status >= _FAULT:
                log.info(
                    "request",
                    method=request.method,
                    path=request.url.path,
                    status=status,
                    seconds=round(time.perf_counter() - started, 4),
                    address=context.address,
                )
