"""The request context, stored in the ASGI scope, and the middleware for the request id and the access log."""

import random
import re
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tradecounter.edge.rest.call import response_headers
from tradecounter.edge.rest.responses import Header
from tradecounter.edge.server.client_address import ClientAddresses
from tradecounter.edge.server.request_figures import RequestFigures, bounded_method
from tradecounter.identity.admission import SENDER, Sender
from tradecounter.identity.credentials import MissingCredentialError
from tradecounter.kit.telemetry import SPANS, RequestSpan
from tradecounter.request_log.recorder import RequestRecorder
from tradecounter.request_log.recorder import Response as RecordedResponse
from tradecounter.sites.http.fast_path.response_cache import CacheKey
from tradecounter.sites.http.request_head import RequestHead, read_head
from tradecounter.storefront.view import CustomerView

log = structlog.get_logger()

_SANE_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_NOT_STORED: Header = (b"cache-control", b"no-store")
_FAULT = 500


class RequestContext(Sender, kw_only=True):
    """The context of a request; `view` and the cache `key` are set if the response may come from the cache.

    `is_tried`: the fast path has found that an endpoint must respond, such as with an error.
    `fault` is the error that prevented the reading of the head; the error middleware responds to it. `reason` is why
    the request got an error, if that is not clear from its status (`edge/server/request_figures.py`); `code` is the
    error's code.
    """

    head: RequestHead
    request_id: str
    view: CustomerView | None = None
    key: CacheKey | None = None
    fault: Exception | None = None
    reason: str | None = None
    code: str = ""
    is_tried: bool = False


# Whoever has the link can accept the quote, or read the feed.
_SECRETS = re.compile(r"(/quote-link/|^/feed/)[^/]+")


def logged_path(request: Request) -> str:
    """Return a request's path without the secrets of one-time links and feeds."""
    return _SECRETS.sub(r"\1(hidden)", request.scope["path"])


def new_context(head: RequestHead, peer: str | None, addresses: ClientAddresses) -> RequestContext:
    """Return the context of a request; `peer` is the connection's other end."""
    hops, given = head.hops, head.request_id
    request_id = given if given and _SANE_REQUEST_ID.fullmatch(given) else f"{random.getrandbits(64):016x}"
    return RequestContext(peer, hops, addresses.of(peer, hops), head.credential, head=head, request_id=request_id)


def context_of(scope: Scope, addresses: ClientAddresses) -> RequestContext:
    """Return the context in an ASGI scope; creates it at the first call."""
    context: RequestContext | None = scope.get(SENDER)
    if context is None:
        client = scope.get("client")
        peer = client[0] if client else None
        try:
            context = new_context(read_head(scope, addresses), peer, addresses)
        except Exception as fault:  # noqa: BLE001 raised again in the error middleware
            context = new_context(
                RequestHead(credential=MissingCredentialError(), hops=None, request_id=""), peer, addresses
            )
            context.fault = fault
        scope[SENDER] = context
    return context


def request_id_of(scope: Scope) -> str:
    """Return the request id in an ASGI scope with a context."""
    context: RequestContext = scope[SENDER]
    return context.request_id


def note_error(scope: Scope, code: str, reason: str | None) -> None:
    """Note the code of the error that a request gets, and why, if that is not clear from its status."""
    context: RequestContext = scope[SENDER]
    context.code, context.reason = code, reason


def require_readable(scope: Scope) -> None:
    """Raise the error that prevented the reading of a request's head, if any."""
    context: RequestContext = scope[SENDER]
    if context.fault is not None:
        raise context.fault


class RequestContextMiddleware:
    """Adds the request id and the common headers to every response, forbids caching by default, and logs requests.

    Requests of the program itself, without `requests`, are neither counted nor traced, and logged only if they fail.
    """

    def __init__(
        self,
        app: ASGIApp,
        standing_headers: Sequence[Header],
        addresses: ClientAddresses,
        requests: RequestFigures | None,
        recorder: RequestRecorder | None,
        *,
        log_requests: bool,
    ) -> None:
        self._app = app
        self._headers = (_NOT_STORED, *standing_headers)  # unless a response has its own
        self._addresses = addresses
        self._requests = requests
        self._recorder = recorder
        self._log_requests = log_requests and requests is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the application and complete the response's headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        context = context_of(scope, self._addresses)
        status, size = 0, 0
        started = time.perf_counter()

        async def send_completed(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                own = {b"x-request-id": context.request_id.encode(), **response_headers(scope)}
                headers = [header for header in message["headers"] if header[0] not in own] + [*own.items()]
                present = {name for name, _ in headers}
                message["headers"] = headers + [header for header in self._headers if header[0] not in present]
            else:
                size += len(message.get("body", b""))
            await send(message)

        structlog.contextvars.bind_contextvars(request_id=context.request_id)  # each request has a context of its own
        with self._traced(request, context) as span:
            try:
                with suppress(ClientDisconnect):  # counted, with the status `none`; clients can cause it at will
                    await self._app(scope, receive, send_completed)
            finally:
                seconds = time.perf_counter() - started
                self._count(request, context, RecordedResponse(status, context.code, seconds, size))
                span.route, span.status, span.customer_id = context.route, status, context.customer_id
            if self._log_requests or status >= _FAULT:
                log.info(
                    "request",
                    method=request.method,
                    path=logged_path(request),
                    status=status,
                    seconds=round(seconds, 4),
                    address=context.address,
                )

    def _count(self, request: Request, context: RequestContext, response: RecordedResponse) -> None:
        """Count a request; record it too if its sender is known and it got a response."""
        if self._requests is not None:
            self._requests.add_request(
                request.method, context.route, response.status, "endpoint", response.seconds, context.reason
            )
        if self._recorder is None or context.holder is None or context.route is None or not response.status:
            return
        path = partial(logged_path, request)
        self._recorder.add(context.holder, request.method, context.route, path, context.request_id, response)

    def _traced(self, request: Request, context: RequestContext) -> AbstractContextManager[RequestSpan]:
        """Record a request's span, if traces are on; the caller's span counts only if a trusted proxy passes it on."""
        span = RequestSpan(bounded_method(request.method), way="endpoint", request_id=context.request_id)
        if SPANS.recorder is None or self._requests is None:
            return nullcontext(span)
        traceparent = context.head.traceparent if self._addresses.trusts(context.peer) else None
        return SPANS.recorder.request(span, traceparent)
