"""One path: picks the endpoint by method, checks the credential, hands over the call."""

from collections.abc import Callable, Iterable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tradecounter.identity.caller import Authenticator
from tradecounter.rest.answers import refusal
from tradecounter.rest.call import Call
from tradecounter.rest.operation import Endpoint


class Resource:
    """An ASGI application for the endpoints of one path; HEAD works wherever GET does."""

    def __init__(
        self,
        endpoints: Iterable[Endpoint],
        authenticator: Authenticator,
        base_url: Callable[[Request], str],
        max_body_bytes: int,
    ) -> None:
        self._endpoints = {endpoint.operation.method: endpoint for endpoint in endpoints}
        if "GET" in self._endpoints:
            self._endpoints["HEAD"] = self._endpoints["GET"]
        self._allow = ", ".join(sorted({*self._endpoints, "OPTIONS"}))
        self._authenticator = authenticator
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
        caller = None if endpoint.operation.public else await self._authenticator.authenticate(request)
        call = Call(request, self._base_url(request), self._max_body_bytes, caller)
        return await endpoint.handler(call)
