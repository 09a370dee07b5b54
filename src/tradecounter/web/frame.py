"""What surrounds every request: its id, its log line, and the answer to any error."""

import random
import re
import time
from collections.abc import Sequence

import structlog
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tradecounter.identity.client_address import ClientAddresses
from tradecounter.identity.http import address_of
from tradecounter.rest.answer_memory import Header
from tradecounter.rest.call import answer_headers
from tradecounter.web.errors import response_to

log = structlog.get_logger()

_SANE_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
REQUEST_ID = "tradecounter.request_id"
_FAULT = 500


def request_id_for(given: str) -> str:
    """Return the id that a client gave its request when it is a sane token, else a new one."""
    return given if given and _SANE_REQUEST_ID.fullmatch(given) else f"{random.getrandbits(64):016x}"


class Frame:
    """The outermost ASGI application: it completes every response's headers, and logs requests.

    A response gets its request's id and the standing headers, and is kept by no cache unless it says so.
    """

    def __init__(
        self, app: ASGIApp, standing_headers: Sequence[Header], addresses: ClientAddresses, *, log_requests: bool
    ) -> None:
        self._app = app
        self._standing_headers = standing_headers
        self._addresses = addresses
        self._log_requests = log_requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and log it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        request_id = scope[REQUEST_ID] = request_id_for(request.headers.get("x-request-id", ""))
        status = 0
        started = time.perf_counter()

        async def send_framed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                headers.update(answer_headers(scope))
                headers.setdefault("Cache-Control", "no-store")
                present = {name for name, _ in headers.raw}
                headers.raw.extend(header for header in self._standing_headers if header[0] not in present)
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, send_framed)
            except ClientDisconnect:
                log.info("client went away", path=request.url.path)
            if self._log_requests or status >= _FAULT:
                log.info(
                    "request",
                    method=request.method,
                    path=request.url.path,
                    status=status,
                    seconds=round(time.perf_counter() - started, 4),
                    address=address_of(request, self._addresses),
                )


class Answering:
    """The innermost ASGI application: whatever error comes out of another one is answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; answer whatever error comes back."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def send_noted(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        except ClientDisconnect:
            raise
        except Exception as error:
            if started:  # too late for another answer: the connection has to break
                raise
            await response_to(error, Request(scope, receive), scope[REQUEST_ID])(scope, receive, send)
