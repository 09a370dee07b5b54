"""`POST /oauth/token`."""

from dataclasses import dataclass

from msgspec import UNSET
from starlette.responses import Response

from tradecounter.identity.admission import Admission, Sender, sender_of
from tradecounter.identity.examples import TOKEN, TOKEN_REQUEST
from tradecounter.identity.oauth.exchange_token import TokenExchange
from tradecounter.identity.oauth.subject_token import Consent
from tradecounter.identity.oauth.token_request import (
    ACCESS_TOKEN,
    InvalidClientError,
    OAuthRequestError,
    TokenRequest,
    client_credentials,
    read_token_request,
)
from tradecounter.identity.wire import AccessToken, OAuthError
from tradecounter.kit.errors import DomainError
from tradecounter.rest.call import Call, add_response_headers
from tradecounter.rest.common_errors import FORBIDDEN
from tradecounter.rest.form import MEDIA_TYPE as FORM
from tradecounter.rest.headers import CACHE_CONTROL, RETRY_AFTER, WWW_AUTHENTICATE
from tradecounter.rest.operation import Body, ErrorResponse, Operation, Success, endpoint
from tradecounter.rest.responses import json_response

_HTTP_PORT = 80
_NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}
_CHALLENGE = {"WWW-Authenticate": 'Basic realm="Tradecounter"'}


_ERRORS = (
    ErrorResponse(
        400,
        "The request is rejected for the reason in `error`. `invalid_grant`: the subject token is not accepted; the "
        "response does not say why.",
        OAuthError("invalid_grant"),
        body=OAuthError,
        counted=False,
    ),
    ErrorResponse(
        401,
        "The application is not authenticated.",
        OAuthError("invalid_client"),
        (WWW_AUTHENTICATE,),
        body=OAuthError,
        counted=False,
    ),
    FORBIDDEN,
    ErrorResponse(
        503,
        "The issuer of subject tokens, or the database, cannot be reached; try again.",
        "the service is temporarily unavailable; try again in 5 seconds",
        (RETRY_AFTER,),
    ),
)


@dataclass(frozen=True, slots=True)
class TokenEndpoint:
    """The token endpoint; `base_url` is the configured base URL, if any."""

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
            body=Body(TokenRequest, {"TokenRequest": TOKEN_REQUEST}, FORM),
            success=Success(200, "The token.", AccessToken, {"AccessToken": TOKEN}, headers=(CACHE_CONTROL,)),
            errors=_ERRORS,
            public=True,
            for_applications=True,
        )
    )
    async def exchange_token(self, call: Call) -> Response:
        add_response_headers(call.request.scope, _NO_STORE)
        sender = sender_of(call.request.scope)
        self.admission.check_address(sender)
        try:
            token = await self._exchange(call, sender)
        except OAuthRequestError as error:
            body = OAuthError(error.code, error.description or UNSET)
            return json_response(body, 401, _CHALLENGE) if error.code == "invalid_client" else json_response(body, 400)
        return json_response(AccessToken(token, ACCESS_TOKEN, "Bearer", int(self.exchange.lifetime.total_seconds())))

    async def _exchange(self, call: Call, sender: Sender) -> str:
        try:
            fields = await call.form()
        except DomainError as error:
            raise OAuthRequestError("invalid_request", error.message) from error
        try:
            client = client_credentials(call.request.headers.getlist("authorization"), fields)
            await self.exchange.authenticate(client)
        except InvalidClientError:
            await self.admission.record_failure(sender)
            raise
        request = read_token_request(fields)
        audience = self.base_url or _address_reached(call)
        if request.resource is not UNSET and request.resource.rstrip("/") != audience:
            raise OAuthRequestError("invalid_target", f"resource: must be {audience}")
        return await self.exchange.exchange(request.subject_token, Consent(audience, client.client_id))


def _address_reached(call: Call) -> str:
    """Return the request's base URL, used when no base URL is configured.

    The `Host` header alone is not trusted: a client could name another service there, and use that service's subject
    token here.
    """
    host, port = call.request.scope["server"]
    suffix = "" if port == _HTTP_PORT else f":{port}"
    reached = f"http://[{host}]{suffix}" if ":" in host else f"http://{host}{suffix}"
    return call.base_url if call.base_url == f"http://localhost{suffix}" else reached
