"""What surrounds every request: its id, its log line, and the answer to any error."""

import re
import secrets
import time

import structlog
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tradecounter.rest.call import answer_headers
from tradecounter.web.errors import response_to

log = structlog.get_logger()

_SANE_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_FAULT = 500


def request_id_of(request: Request) -> str:
    """Return the client's request id when it is a sane token, else a new one."""
    given = request.headers.get("x-request-id", "")
    return given if _SANE_REQUEST_ID.fullmatch(given) else secrets.token_hex(8)


class Frame:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, *, log_requests: bool) -> None:
        self._app = app
        self._log_requests = log_requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; answer whatever error comes back."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        request_id = request_id_of(request)
        status = 0
        started = time.perf_counter()

        async def send_framed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                headers.update(answer_headers(scope))
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, send_framed)
            except ClientDisconnect:
                log.info("client went away", path=request.url.path)
            except Exception as error:
                if status:  # too late for another answer: the connection has to break
                    raise
                await response_to(error, request, request_id)(scope, receive, send_framed)
            if self._log_requests or status >= _FAULT:
                seconds = round(time.perf_counter() - started, 4)
                log.info("request", method=request.method, path=request.url.path, status=status, seconds=seconds)
