"""One path: picks the endpoint by method, checks the credential, hands over the call."""

from collections.abc import Callable, Iterable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from structlog.contextvars import bind_contextvars

from tradecounter.db.pipeline import OutdatedStatementError
from tradecounter.db.turns import act_for
from tradecounter.identity.admission import Admission, Admitted
from tradecounter.identity.http import count_response, presented_by, rate_limit_headers
from tradecounter.identity.rate_limit import RateLimitedError
from tradecounter.rest.answers import refusal
from tradecounter.rest.call import Call, add_answer_headers, add_ignored
from tradecounter.rest.ignored import unknown_parameters
from tradecounter.rest.operation import Endpoint, Operation

_SAFE = {"GET", "HEAD"}


class Resource:
    """An ASGI application for the endpoints of one path; HEAD works wherever GET does."""

    def __init__(
        self,
        endpoints: Iterable[Endpoint],
        admission: Admission,
        base_url: Callable[[Request], str],
        max_body_bytes: int,
    ) -> None:
        self._endpoints = {endpoint.operation.method: endpoint for endpoint in endpoints}
        if "GET" in self._endpoints:
            self._endpoints["HEAD"] = self._endpoints["GET"]
        self._allow = ", ".join(sorted({*self._endpoints, "OPTIONS"}))
        self._admission = admission
        self._base_url = base_url
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request to the path."""
        response = await self._answer(Request(scope, receive))
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"Allow": self._allow})
        endpoint = self._endpoints.get(request.method)
        if endpoint is None:
            message = f"{request.method} is not possible here; possible are {self._allow}"
            return refusal(message, 405, {"Allow": self._allow})
        operation = endpoint.operation
        caller = None if operation.public else await self._admit(request, operation)
        if caller is not None:
            act_for(caller.customer_id)
        if raw_query := request.scope["query_string"].decode("latin-1"):
            add_ignored(request.scope, unknown_parameters(raw_query, operation.query))
        shapes = (operation.body and operation.body.type, operation.success.body)
        call = Call(request, self._base_url, self._max_body_bytes, caller, shapes)
        response = await _handled(endpoint, call)
        if caller is not None:
            count_response(request.scope, response, self._admission.rate_limit, caller.customer_id)
        return response

    async def _admit(self, request: Request, operation: Operation) -> Admitted:
        presented = presented_by(request, self._admission.addresses)
        try:
            admitted = await self._admission.admit(presented, counts=operation.rate_limited)
        except RateLimitedError as error:
            add_answer_headers(request.scope, rate_limit_headers(error.quota))
            raise
        bind_contextvars(customer=admitted.customer_id)  # for all that is logged of the request
        if admitted.quota is not None:
            add_answer_headers(request.scope, rate_limit_headers(admitted.quota))
        return admitted


async def _handled(endpoint: Endpoint, call: Call) -> Response:
    try:
        return await endpoint.handler(call)
    except OutdatedStatementError:
        if call.request.method not in _SAFE:
            raise
        return await endpoint.handler(call)  # nothing was sent yet, and the connections are new
