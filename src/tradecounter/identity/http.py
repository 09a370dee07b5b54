"""`POST /oauth/token`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.responses import Response

from tradecounter.identity.admission import Admission, Sender, sender_of
from tradecounter.identity.exchange_token import TokenExchange
from tradecounter.identity.subject_token import Consent
from tradecounter.identity.token_request import (
    ACCESS_TOKEN,
    AccessTokenType,
    ErrorCode,
    OAuthRefusal,
    TokenRequest,
    WrongClientRefusal,
    client_credentials,
    read_token_request,
)
from tradecounter.kit.errors import DomainError
from tradecounter.rest.call import Call, add_response_headers
from tradecounter.rest.operation import Answer, Operation, endpoint
from tradecounter.rest.responses import json_response

_HTTP_PORT = 80
_NOT_TO_BE_KEPT = {"Cache-Control": "no-store", "Pragma": "no-cache"}
_CHALLENGE = {"WWW-Authenticate": 'Basic realm="Tradecounter"'}


class AccessToken(Struct):
    """A token that stands for a customer for a while."""

    access_token: Annotated[str, Meta(min_length=64, max_length=64, description="Opaque; send it as bearer token.")]
    issued_token_type: Annotated[AccessTokenType, Meta(description="Always the same.")]
    token_type: Annotated[Literal["Bearer"], Meta(description="Send it as `Authorization: Bearer`.")]
    expires_in: Annotated[int, Meta(description="Seconds until it expires.")]


class OAuthError(Struct):
    """Why there is no token (RFC 6749, section 5.2)."""

    error: Annotated[ErrorCode, Meta(description="The reason.")]
    error_description: Annotated[str | UnsetType, Meta(description="For whoever writes the client.")] = UNSET


@dataclass(frozen=True, slots=True)
class TokenEndpoint:
    """The token endpoint; `base_url` is the configured one, if any."""

    exchange: TokenExchange
    admission: Admission
    base_url: str | None

    @endpoint(
        Operation(
            method="POST",
            path="/oauth/token",
            name="exchangeToken",
            tag="Access",
            summary="Exchange a customer's consent for an access token",
            description="For registered applications that act for a customer (RFC 8693). The application authenticates "
            "with HTTP Basic, or with `client_id` and `client_secret` in the form.",
            form=TokenRequest,
            answer=Answer(200, "The token.", AccessToken, headers=("Cache-Control",)),
            errors=(400, 401, 403, 503),
            meanings={503: "The issuer of subject tokens, or the database, cannot be reached; try again."},
            public=True,
            for_applications=True,
        )
    )
    async def exchange_token(self, call: Call) -> Response:
        """Answer `POST /oauth/token`."""
        add_response_headers(call.request.scope, _NOT_TO_BE_KEPT)
        sender = sender_of(call.request.scope)
        self.admission.check_address(sender)
        try:
            token = await self._exchange(call, sender)
        except OAuthRefusal as refusal:
            body = OAuthError(refusal.error, refusal.description or UNSET)
            return (
                json_response(body, 401, _CHALLENGE) if refusal.error == "invalid_client" else json_response(body, 400)
            )
        return json_response(AccessToken(token, ACCESS_TOKEN, "Bearer", int(self.exchange.lifetime.total_seconds())))

    async def _exchange(self, call: Call, sender: Sender) -> str:
        try:
            fields = await call.form()
        except DomainError as error:
            raise OAuthRefusal("invalid_request", error.message) from error
        try:
            client = client_credentials(call.request.headers.getlist("authorization"), fields)
            await self.exchange.authenticate(client)
        except WrongClientRefusal:
            await self.admission.record_failure(sender)
            raise
        request = read_token_request(fields)
        audience = self.base_url or _address_reached(call)
        if request.resource is not UNSET and request.resource.rstrip("/") != audience:
            raise OAuthRefusal("invalid_target", f"resource: must be {audience}")
        return await self.exchange.exchange(request.subject_token, Consent(audience, client.client_id))


def _address_reached(call: Call) -> str:
    """Return the base address where none is configured: the one that the request names, if it did arrive there.

    Otherwise whoever holds a subject token for another service could have it taken for ours by naming that service.
    """
    host, port = call.request.scope["server"]
    suffix = "" if port == _HTTP_PORT else f":{port}"
    reached = f"http://[{host}]{suffix}" if ":" in host else f"http://{host}{suffix}"
    return call.base_url if call.base_url == f"http://localhost{suffix}" else reached
