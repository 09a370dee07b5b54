"""What the endpoints for applications share: the form, the client's authentication, errors, and the audience."""

import hmac
from collections.abc import Mapping

from msgspec import UNSET, Struct
from starlette.requests import Request
from starlette.responses import Response

from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.edge.rest.call import Call, add_response_headers
from tradecounter.edge.rest.headers import WWW_AUTHENTICATE
from tradecounter.edge.rest.operation import ErrorResponse
from tradecounter.edge.rest.responses import json_response
from tradecounter.identity.admission import Admission, sender_of
from tradecounter.identity.credentials import secret_hash
from tradecounter.identity.oauth.queries.applications import find_secret
from tradecounter.identity.wire import (
    ClientCredentials,
    InvalidClientError,
    OAuthError,
    OAuthRequestError,
    client_credentials,
)
from tradecounter.kit.actor import Actor
from tradecounter.kit.errors import DomainError

_HTTP_PORT = 80
_NO_HASH = bytes(32)
_NO_STORE = [(b"cache-control", b"no-store"), (b"pragma", b"no-cache")]
_CHALLENGE = {"WWW-Authenticate": 'Basic realm="Tradecounter"'}

NOT_AUTHENTICATED = ErrorResponse(
    401,
    "The application is not authenticated.",
    OAuthError("invalid_client"),
    (WWW_AUTHENTICATE,),
    body=OAuthError,
    counted=False,
)


class ClientRequest(Struct, frozen=True):
    """A form that an authenticated application has sent; `actor` names the application in the audit log."""

    client_id: str
    fields: Mapping[str, str]
    actor: Actor


class ClientDesk(Struct, frozen=True):
    """Reads forms that applications send with their credentials."""

    database: Database
    admission: Admission

    async def read_form(self, call: Call) -> Mapping[str, str]:
        """Return a client's form, whose response must not be cached.

        Raises BlockedError, and OAuthRequestError (invalid_request).
        """
        add_response_headers(call.request.scope, _NO_STORE)
        sender = sender_of(call.request.scope)
        self.admission.check_address(sender)
        try:
            return await call.form()
        except DomainError as error:
            raise OAuthRequestError("invalid_request", error.message) from error

    async def read(self, call: Call) -> ClientRequest:
        """Return an application's request. Raises what `read_form` and `authenticated` do."""
        return await self.authenticated(call, await self.read_form(call))

    async def authenticated(self, call: Call, fields: Mapping[str, str]) -> ClientRequest:
        """Return the request in an application's form.

        Raises OAuthRequestError: invalid_request, or invalid_client, which counts as a failure. Raises BlockedError.
        """
        sender = sender_of(call.request.scope)
        try:
            client = client_credentials(call.request.headers.getlist("authorization"), fields)
            name = await self._authenticate(client)
        except InvalidClientError:
            await self.admission.record_failure(sender)
            raise
        return ClientRequest(client.client_id, fields, Actor("key", name, client.client_id, address=sender.address))

    async def _authenticate(self, presented: ClientCredentials) -> str:
        """Check an id and a secret; return the application's name. A disabled application is not authenticated."""
        async with reading(self.database) as tx:
            stored = await find_secret(tx, presented.client_id)
        right = hmac.compare_digest(
            _NO_HASH if stored is None else stored.secret_hash, secret_hash(presented.client_secret)
        )
        if stored is None or not right:
            raise InvalidClientError
        return stored.name


def oauth_error_response(error: OAuthRequestError) -> Response:
    """Return the response of an endpoint for applications to an error."""
    body = OAuthError(error.code, error.description or UNSET)
    return json_response(body, 401, _CHALLENGE) if error.code == "invalid_client" else json_response(body, 400)


def audience_of(request: Request, base_url: str | None) -> str:
    """Return the base URL that a consent must name: the configured one, or else the one that the request reached.

    The `Host` header alone is not trusted: a client could name another service there, and use that service's subject
    token here.
    """
    if base_url is not None:
        return base_url
    host, port = request.scope["server"]
    suffix = "" if port == _HTTP_PORT else f":{port}"
    reached = f"http://[{host}]{suffix}" if ":" in host else f"http://{host}{suffix}"
    named = str(request.base_url).rstrip("/")
    return named if named == f"http://localhost{suffix}" else reached
