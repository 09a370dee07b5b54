"""What agents need before they may ask a customer: the metadata of `/mcp`, and registration (RFC 9728, RFC 7591)."""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.agents.metadata import PATH, WELL_KNOWN, ResourceMetadata, resource_metadata
from tradecounter.agents.register_client import ClientMetadata, RegistrationError, RegistrationProblem, register_client
from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.rest.call import Call, add_response_headers
from tradecounter.edge.rest.common_errors import UNAVAILABLE
from tradecounter.edge.rest.headers import CACHE_CONTROL, RETRY_AFTER
from tradecounter.edge.rest.operation import EXAMPLE_ADDRESS, Body, ErrorResponse, Operation, Success, endpoint
from tradecounter.edge.rest.responses import json_response
from tradecounter.identity.admission import sender_of
from tradecounter.identity.oauth.client_requests import audience_of
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError, Kind

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
_REGISTERED = RegisteredClient(
    "3f" * 16,
    1781506800,
    "An assistant",
    [_CALLBACK],
    "none",
    ["authorization_code", "refresh_token"],
    ["code"],
    "read order",
)
_DESCRIBED: Mapping[type, Described] = {ResourceMetadata: Described("The metadata.", _METADATA, "Metadata")}
_ACCESS = Subject(tag="Access", public=True, described=_DESCRIBED)


class ConnectingEndpoints(Struct, frozen=True):
    """The endpoints; `base_url` is the configured base URL, if any."""

    database: Database
    clock: Clock
    base_url: str | None
    seller: str

    @_ACCESS.shows(f"{WELL_KNOWN}{PATH}")
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
            success=Success(201, "The client.", RegisteredClient, {"Client": _REGISTERED}, headers=(CACHE_CONTROL,)),
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
                made = await register_client(tx, wanted, address, now)
        except RegistrationError as error:
            return json_response(RegistrationProblemBody(error.code, error.description), 400)
        except DomainError as error:
            if error.kind is not Kind.INVALID:
                raise
            return json_response(RegistrationProblemBody("invalid_client_metadata", error.message), 400)
        client = RegisteredClient(
            made.client_id,
            int(now.timestamp()),
            made.name,
            made.redirect_uris,
            "none",
            ["authorization_code", "refresh_token"],
            ["code"],
            "read order",
        )
        return json_response(client, 201)
