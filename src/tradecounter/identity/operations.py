"""`POST /oauth/token`."""

from msgspec import UNSET, Struct
from starlette.responses import Response

from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import FORBIDDEN
from tradecounter.edge.rest.headers import CACHE_CONTROL, RETRY_AFTER
from tradecounter.edge.rest.operation import Body, ErrorResponse, Operation, Success, endpoint
from tradecounter.edge.rest.parameters import FORM_MEDIA_TYPE
from tradecounter.edge.rest.responses import json_response
from tradecounter.identity.examples import TOKEN, TOKEN_REQUEST
from tradecounter.identity.oauth.client_requests import (
    NOT_AUTHENTICATED,
    ClientDesk,
    ClientRequest,
    audience_of,
    oauth_error_response,
)
from tradecounter.identity.oauth.exchange_token import Consent, TokenExchange
from tradecounter.identity.wire import (
    ACCESS_TOKEN,
    AccessToken,
    OAuthError,
    OAuthRequestError,
    TokenRequest,
    read_token_request,
)

_ERRORS = (
    ErrorResponse(
        400,
        "The request is rejected for the reason in `error`. `invalid_grant`: the subject token is not accepted; the "
        "response does not say why.",
        OAuthError("invalid_grant"),
        body=OAuthError,
        counted=False,
    ),
    NOT_AUTHENTICATED,
    FORBIDDEN,
    ErrorResponse(
        503,
        "The issuer of subject tokens, or the database, cannot be reached; try again.",
        "the service is temporarily unavailable; try again in 5 seconds",
        (RETRY_AFTER,),
    ),
)


class TokenEndpoint(Struct, frozen=True):
    """The token endpoint; `base_url` is the configured base URL, if any."""

    exchange: TokenExchange
    clients: ClientDesk
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
            body=Body(TokenRequest, {"TokenRequest": TOKEN_REQUEST}, FORM_MEDIA_TYPE),
            success=Success(200, "The token.", AccessToken, {"AccessToken": TOKEN}, headers=(CACHE_CONTROL,)),
            errors=_ERRORS,
            public=True,
            for_applications=True,
        )
    )
    async def exchange_token(self, call: Call) -> Response:
        try:
            request = await self.clients.read(call)
            token = await self._exchange(call, request)
        except OAuthRequestError as error:
            return oauth_error_response(error)
        return json_response(AccessToken(token, ACCESS_TOKEN, "Bearer", int(self.exchange.lifetime.total_seconds())))

    async def _exchange(self, call: Call, request: ClientRequest) -> str:
        wanted = read_token_request(request.fields)
        audience = audience_of(call.request, self.base_url)
        if wanted.resource is not UNSET and wanted.resource.rstrip("/") != audience:
            raise OAuthRequestError("invalid_target", f"resource: must be {audience}")
        return await self.exchange.exchange(wanted.subject_token, Consent(audience, request.client_id))
