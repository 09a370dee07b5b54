"""`/mcp`: the Model Context Protocol server, its metadata, and the registration of agents."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import Context
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from tradecounter.agents.operations.tools import Tool
from tradecounter.agents.queries import AgentClient
from tradecounter.agents.registration import (
    MCP_PATH,
    WELL_KNOWN,
    ClientMetadata,
    RegistrationError,
    RegistrationProblem,
    ResourceMetadata,
    challenge,
    register_client,
    resource_metadata,
)
from tradecounter.agents.rules import SCOPES
from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.permissions import KEY_SCOPES
from tradecounter.edge.rest.call import Call, add_response_headers, read_body
from tradecounter.edge.rest.common_errors import UNAVAILABLE
from tradecounter.edge.rest.headers import CACHE_CONTROL, RETRY_AFTER
from tradecounter.edge.rest.operation import EXAMPLE_ADDRESS, Body, ErrorResponse, Operation, Success, endpoint
from tradecounter.edge.rest.responses import Error, json_response
from tradecounter.identity.admission import sender_of
from tradecounter.identity.credentials import LiveAgent, MissingCredentialError
from tradecounter.identity.oauth.client_requests import audience_of
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import Code, DomainError, Kind
from tradecounter.kit.json_text import check_text, read_json

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


_CALLBACK = "http://127.0.0.1:33418/callback"


class RegisteredClient(Struct):
    """A registered client (RFC 7591). It has no secret."""

    client_id: Annotated[str, Meta(description="The client's id.")]
    client_id_issued_at: Annotated[int, Meta(description="Seconds since 1970.")]
    client_name: Annotated[str, Meta(description="Its name for people.")]
    redirect_uris: Annotated[list[str], Meta(description="Where browsers go back to.")]
    token_endpoint_auth_method: Annotated[Literal["none"], Meta(description="It has no secret, and needs PKCE.")]
    grant_types: Annotated[
        list[Literal["authorization_code", "refresh_token"]], Meta(description="Codes and refresh tokens.")
    ]
    response_types: Annotated[list[Literal["code"]], Meta(description="Only codes.")]
    scope: Annotated[str, Meta(description="What it can ask for.")]


class RegistrationProblemBody(Struct, rename={"code": "error"}):
    """Why a client is not registered (RFC 7591, section 3.2.2)."""

    code: Annotated[RegistrationProblem, Meta(description="The reason.")]
    error_description: Annotated[str, Meta(description="Details for developers of the client.")]


_METADATA = resource_metadata(EXAMPLE_ADDRESS, "Tradecounter")
_CLIENT = AgentClient(
    client_id="3f" * 16,
    name="An assistant",
    redirect_uris=[_CALLBACK],
    created_at=datetime(2026, 6, 15, 7, tzinfo=UTC),
    read_at=None,
)
_DESCRIBED: Mapping[type, Described] = {ResourceMetadata: Described("The metadata.", _METADATA, "Metadata")}
_ACCESS = Subject(tag="Access", public=True, described=_DESCRIBED)


def _registered(client: AgentClient) -> RegisteredClient:
    return RegisteredClient(
        client_id=client.client_id,
        client_id_issued_at=int(client.created_at.timestamp()),
        client_name=client.name,
        redirect_uris=client.redirect_uris,
        token_endpoint_auth_method="none",  # noqa: S106 the name of a method
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        scope="read order",
    )


class ConnectingEndpoints(Struct, frozen=True):
    """The endpoints; `base_url` is the configured base URL, if any."""

    database: Database
    clock: Clock
    base_url: str | None
    seller: str

    @_ACCESS.shows(f"{WELL_KNOWN}{MCP_PATH}")
    async def get_agents_server(self, call: Call) -> ResourceMetadata:
        """The metadata of the agents' server.

        Where agents get tokens for `/mcp` (RFC 9728).
        """
        return resource_metadata(audience_of(call.request, self.base_url), self.seller)

    @_ACCESS.shows(WELL_KNOWN)
    async def get_protected_resource(self, call: Call) -> ResourceMetadata:
        """The metadata of the agents' server, without its path.

        Where agents get tokens for `/mcp` (RFC 9728).
        """
        return resource_metadata(audience_of(call.request, self.base_url), self.seller)

    @endpoint(
        Operation(
            method="POST",
            path="/auth/register",
            name="registerAgent",
            tag="Access",
            summary="Register an agent",
            description="For programs that order at `/mcp` (RFC 7591). What is registered gives no access: a customer "
            "allows it at `/auth/authorize`. A client that nobody has allowed within a day is deleted.",
            body=Body(ClientMetadata, {"An assistant": ClientMetadata([_CALLBACK], "An assistant")}),
            success=Success(
                201, "The client.", RegisteredClient, {"Client": _registered(_CLIENT)}, headers=(CACHE_CONTROL,)
            ),
            errors=(
                ErrorResponse(
                    400,
                    "The client is not registered for the reason in `error`.",
                    RegistrationProblemBody("invalid_redirect_uri", "redirect_uris: must have at least one address"),
                    body=RegistrationProblemBody,
                    counted=False,
                ),
                ErrorResponse(
                    429,
                    "Too many clients were registered from the address.",
                    "more than 20 clients were registered from your address: try again in an hour",
                    (RETRY_AFTER,),
                    counted=False,
                ),
                UNAVAILABLE,
            ),
            public=True,
        )
    )
    async def register(self, call: Call) -> Response:
        add_response_headers(call.request.scope, [(b"cache-control", b"no-store")])
        now, address = self.clock.now(), sender_of(call.request.scope).address
        try:
            wanted = await call.body(ClientMetadata)
            async with transaction(self.database) as tx:
                client = await register_client(tx, wanted, address, now)
        except RegistrationError as error:
            return json_response(RegistrationProblemBody(error.code, error.description), 400)
        except DomainError as error:
            if error.kind is not Kind.INVALID:
                raise
            return json_response(RegistrationProblemBody("invalid_client_metadata", error.message), 400)
        return json_response(_registered(client), 201)


_OPERATION = Operation(
    method="POST",
    path=MCP_PATH,
    name="callAgentTool",
    tag="",
    summary="",
    key_scopes=KEY_SCOPES,
    success=Success(200, ""),
)
_ALLOWED = "POST, OPTIONS"

Admit = Callable[[Request, Operation], Awaitable[int]]


class _NamedTool(Struct, frozen=True):
    name: str = ""


class _ToolCall(Struct):
    """A request as far as it says which tool is called; other requests name none."""

    method: str = ""
    params: _NamedTool = _NamedTool()


class AgentServer:
    """The server at `/mcp`, as an ASGI application; `admit` checks the credential and counts the request.

    Without a right credential, agents learn where to get a token, if the service issues them. `origins` are those whose
    pages may call it, beside that of `base_url`; requests without `Origin` come from programs.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        admit: Admit,
        base_url: str | None,
        origins: str | None,
        max_body_bytes: int,
        *,
        issues_tokens: bool,
    ) -> None:
        self._make = lambda: import_module("tradecounter.agents.operations.protocol").session_manager(
            tools, max_body_bytes
        )
        self._tools = {tool.name: tool for tool in tools}
        self._max_body_bytes = max_body_bytes
        self._admit = admit
        self._base_url = base_url
        self._issues_tokens = issues_tokens
        self._origins = {origin.strip() for origin in (origins or "").split(",") if origin.strip()}
        self._running: RunningManager | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve requests while the block runs."""
        running = self._running = RunningManager(self._make)
        try:
            yield
        finally:
            await running.stop()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request. Raises DomainError and ClientDisconnect."""
        sender, request = sender_of(scope), Request(scope, receive)
        sender.route = MCP_PATH
        if request.method == "OPTIONS":
            await Response(status_code=204, headers={"Allow": _ALLOWED})(scope, receive, send)
            return
        if request.method != "POST":  # there are no sessions to listen to or to end
            error = Error(f"{request.method} is not allowed here; use {_ALLOWED}", Code.METHOD_NOT_ALLOWED)
            await json_response(error, 405, {"Allow": _ALLOWED})(scope, receive, send)
            return
        self._check_origin(request)
        try:
            await self._admit(request, _OPERATION)
        except DomainError as error:
            if error.kind is not Kind.UNAUTHENTICATED or not self._issues_tokens:
                raise
            code = "" if isinstance(error, MissingCredentialError) else "invalid_token"
            await json_response({}, 401, self._challenge(request, [*SCOPES], code))(scope, receive, send)
            return
        if self._running is None:
            raise RuntimeError("the server has not started")
        body = await read_body(request, self._max_body_bytes)  # whole: the SDK takes a client that has left for a fault
        tool = self._tools.get(_tool_called(body))
        if tool is not None and isinstance(sender.holder, LiveAgent):
            missing = tool.missing_scope(sender.holder)
            if missing is not None:
                wanted = [each for each in SCOPES if each in {*sender.holder.scopes, missing}]
                problem = Error(f"the scope {missing} is needed", Code.SCOPE_NEEDED)
                headers = self._challenge(request, wanted, "insufficient_scope")
                await json_response(problem, 403, headers)(scope, receive, send)
                return
        manager = await self._running.manager()
        await manager.handle_request(scope, _again(body, receive), send)

    def _challenge(self, request: Request, scopes: Sequence[str], error: str) -> dict[str, str]:
        return {"WWW-Authenticate": challenge(audience_of(request, self._base_url), scopes, error)}

    def _check_origin(self, request: Request) -> None:
        """Raise DomainError (forbidden) for the page of another site, which may act for a browser in our network.

        The header `Host` proves nothing: a page whose name was made to lead here (DNS rebinding) sends its own.
        """
        origin = request.headers.get("origin")
        if origin is None or "*" in self._origins or origin in self._origins:
            return
        own = urlsplit(audience_of(request, self._base_url))
        if origin != f"{own.scheme}://{own.netloc}":
            raise DomainError(Kind.FORBIDDEN, "pages of this origin may not call the agents' server")


def _tool_called(body: bytes) -> str:
    """Return the name of the tool that a request calls; empty for other requests, and for those that are not valid."""
    try:
        check_text(body)
        call = read_json(body, _ToolCall)
    except DomainError:
        return ""
    return call.params.name if call.method == "tools/call" else ""


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a function that receives a body that was read, and then what follows it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message


class RunningManager:
    """The SDK's manager between the first request and the end of the process, in a task of its own.

    The task outlives the request that starts it, and none of that request's context is in it.
    """

    def __init__(self, make: "Callable[[], StreamableHTTPSessionManager]") -> None:
        self._make = make
        self._ready: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._ended = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def manager(self) -> "StreamableHTTPSessionManager":
        """Return the manager; requests that come while it starts wait for the same one."""
        if self._ready is None:
            self._ready = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._run(self._ready), context=Context())
            self._task.add_done_callback(partial(self._end, self._ready))
        return await asyncio.shield(self._ready)

    async def stop(self) -> None:
        """End the manager if it has started."""
        self._ended.set()
        if self._task is not None:
            await asyncio.wait([self._task])

    def _end(self, ready: "asyncio.Future[StreamableHTTPSessionManager]", task: "asyncio.Task[None]") -> None:
        """If the manager could not start, have the requests that wait for it fail, and the next one start another."""
        if ready.done():
            return
        self._ready = None
        if task.cancelled() or (error := task.exception()) is None:
            ready.cancel()
        else:
            ready.set_exception(error)

    async def _run(self, ready: "asyncio.Future[StreamableHTTPSessionManager]") -> None:
        # The import takes a while: other requests go on meanwhile.
        manager = await asyncio.to_thread(self._make)
        async with manager.run():
            ready.set_result(manager)
            await self._ended.wait()
