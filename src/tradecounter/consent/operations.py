"""The own issuer's endpoints for programs: metadata, keys, `POST /auth/token`, `POST /auth/revoke`."""

from collections.abc import Mapping

import structlog
from msgspec import UNSET, Struct, UnsetType
from starlette.responses import Response

from tradecounter.agents.issue_tokens import TokenIssuer, revoke_agent_token
from tradecounter.agents.queries import AgentClient, find_client
from tradecounter.agents.registration import resource_of
from tradecounter.consent.examples import AGENT_TOKEN, CONSENT, KEY_SET, METADATA, REFRESH_REQUEST, REQUEST, REVOCATION
from tradecounter.consent.issuer import (
    CodeRequest,
    GrantedConsent,
    OwnIssuer,
    Rejection,
    issuer_name,
    redeem_code,
    refresh,
    revoke_access_token,
    revoke_grant,
    revoke_refresh_token,
    signed_consent,
    signing_key,
)
from tradecounter.consent.rules import CONSENT_LIFETIME
from tradecounter.consent.wire import (
    ConsentRequest,
    ConsentToken,
    IssuerMetadata,
    KeySet,
    RevocationRequest,
    Revoked,
    metadata,
)
from tradecounter.db.transaction import reading, transaction
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import FORBIDDEN, UNAVAILABLE
from tradecounter.edge.rest.headers import CACHE_CONTROL
from tradecounter.edge.rest.operation import Body, ErrorResponse, Operation, Success, endpoint
from tradecounter.edge.rest.parameters import FORM_MEDIA_TYPE
from tradecounter.edge.rest.responses import json_response
from tradecounter.identity.admission import sender_of
from tradecounter.identity.oauth.client_requests import (
    NOT_AUTHENTICATED,
    ClientDesk,
    ClientRequest,
    audience_of,
    oauth_error_response,
)
from tradecounter.identity.oauth.exchange_token import Consent, GivenConsent, InvalidSubjectTokenError, SubjectToken
from tradecounter.identity.wire import JwtType, OAuthError, OAuthRequestError, read_form
from tradecounter.kit.actor import Actor
from tradecounter.kit.clock import Clock

log = structlog.get_logger()

JWT: JwtType = "urn:ietf:params:oauth:token-type:jwt"

_GRANT_TYPES = ("authorization_code", "refresh_token")


def _rejected(meaning: str) -> ErrorResponse:
    return ErrorResponse(400, meaning, OAuthError("invalid_grant"), body=OAuthError, counted=False)


_ERRORS = (NOT_AUTHENTICATED, FORBIDDEN, UNAVAILABLE)


_DESCRIBED: Mapping[type, Described] = {
    IssuerMetadata: Described("The metadata.", METADATA, "Issuer"),
    KeySet: Described("The keys.", KEY_SET, "Keys"),
}
_ACCESS = Subject(tag="Access", public=True, described=_DESCRIBED)


class IssuerEndpoints(Struct, frozen=True):
    """The endpoints; `base_url` is the configured base URL, if any."""

    issuer: OwnIssuer
    clients: ClientDesk
    agents: TokenIssuer
    clock: Clock
    base_url: str | None

    @_ACCESS.shows("/auth/.well-known/openid-configuration")
    async def get_issuer(self, call: Call) -> IssuerMetadata:
        """The issuer's metadata.

        The metadata of the issuer at which customers consent to applications (RFC 8414).
        """
        return metadata(audience_of(call.request, self.base_url))

    @_ACCESS.shows("/.well-known/oauth-authorization-server/auth")
    async def get_authorization_server(self, call: Call) -> IssuerMetadata:
        """The issuer's metadata, at the place of RFC 8414.

        The metadata of the issuer at which customers consent to applications (RFC 8414).
        """
        return metadata(audience_of(call.request, self.base_url))

    @_ACCESS.shows("/auth/jwks.json", errors=(UNAVAILABLE,))
    async def list_issuer_keys(self) -> KeySet:
        """The issuer's public keys.

        The keys that sign consent, as JSON Web Keys (RFC 7517).
        """
        return KeySet(await self.issuer.key_set())

    @endpoint(
        Operation(
            method="POST",
            path="/auth/token",
            name="requestConsent",
            tag="Access",
            summary="Redeem a code or a refresh token",
            description="For registered applications, and for agents. A code comes from `/auth/authorize`, where a "
            "customer consents; it is good once, for a minute. The consent is a JWT that `exchangeToken` exchanges for "
            "an access token. A refresh token is good once; when an old one is used again, all that came of its code "
            "ends. An agent, which has no secret, sends its `client_id` and gets an access token for `/mcp` alone.",
            body=Body(ConsentRequest, {"Code": REQUEST, "Refresh token": REFRESH_REQUEST}, FORM_MEDIA_TYPE),
            success=Success(
                200, "The consent.", ConsentToken, {"Consent": CONSENT, "Agent": AGENT_TOKEN}, headers=(CACHE_CONTROL,)
            ),
            errors=(
                _rejected(
                    "The request is rejected for the reason in `error`. `invalid_grant`: the code or the refresh token "
                    "is not accepted; the response does not say why."
                ),
                *_ERRORS,
            ),
            public=True,
            for_applications=True,
        )
    )
    async def issue_consent(self, call: Call) -> Response:
        try:
            fields = await self.clients.read_form(call)
            if (agent := await self._agent_in(call, fields)) is not None:
                return json_response(await self._issue_to_agent(call, agent, fields))
            request = await self.clients.authenticated(call, fields)
            wanted = _read_request(fields)
            _require_resource(fields, audience_of(call.request, self.base_url))
            return json_response(await self._issue(call, request, wanted))
        except OAuthRequestError as error:
            return oauth_error_response(error)

    @endpoint(
        Operation(
            method="POST",
            path="/auth/revoke",
            name="revokeToken",
            tag="Access",
            summary="Revoke a token",
            description="For registered applications, and for agents (RFC 7009). Revoking a refresh token or a consent "
            "ends the refresh tokens and the access tokens of the same code; revoking an access token ends it alone. "
            "The response to an unknown token is the same.",
            body=Body(RevocationRequest, {"Refresh token": REVOCATION}, FORM_MEDIA_TYPE),
            success=Success(
                200, "The token is not valid, or no longer.", Revoked, {"Revoked": Revoked()}, headers=(CACHE_CONTROL,)
            ),
            errors=(_rejected("The request is not valid, or the token is another application's."), *_ERRORS),
            public=True,
            for_applications=True,
        )
    )
    async def revoke(self, call: Call) -> Response:
        try:
            fields = await self.clients.read_form(call)
            token = read_form(fields, RevocationRequest).token
            if (agent := await self._agent_in(call, fields)) is not None:
                async with transaction(self.issuer.database, _actor_of(agent, call)) as tx:
                    await revoke_agent_token(tx, agent.client_id, token, self.clock.now())
            else:
                await self._revoke(call, await self.clients.authenticated(call, fields), token)
        except OAuthRequestError as error:
            return oauth_error_response(error)
        return json_response(Revoked())

    async def _issue(self, call: Call, request: ClientRequest, wanted: CodeRequest | str) -> ConsentToken:
        now = self.clock.now()
        base_url = audience_of(call.request, self.base_url)
        async with transaction(self.issuer.database, request.actor) as tx:
            key = await signing_key(tx, self.issuer.vault, now)
            given: GrantedConsent | Rejection
            if isinstance(wanted, CodeRequest):
                given = await redeem_code(tx, request.client_id, wanted, now)
            else:
                given = await refresh(tx, request.client_id, wanted, now)
        if isinstance(given, Rejection):
            log.info("grant rejected", client_id=request.client_id, reason=given.reason)
            raise OAuthRequestError("invalid_grant")
        consent = signed_consent(key, given, request.client_id, base_url, issuer_name(base_url), now)
        seconds = int(CONSENT_LIFETIME.total_seconds())
        return ConsentToken(consent, "Bearer", seconds, refresh_token=given.refresh_token, issued_token_type=JWT)

    async def _agent_in(self, call: Call, fields: Mapping[str, str]) -> AgentClient | None:
        """Return the agent that sends a form without a secret, or None."""
        client_id = fields.get("client_id")
        if client_id is None or fields.get("client_secret") or "authorization" in call.request.headers:
            return None
        async with reading(self.issuer.database) as tx:
            return await find_client(tx, client_id)

    async def _issue_to_agent(self, call: Call, agent: AgentClient, fields: Mapping[str, str]) -> ConsentToken:
        wanted = _read_request(fields)
        _require_resource(fields, resource_of(audience_of(call.request, self.base_url)))
        now = self.clock.now()
        async with transaction(self.issuer.database, _actor_of(agent, call)) as tx:
            if isinstance(wanted, CodeRequest):
                given = await self.agents.redeem(tx, agent.client_id, wanted, now)
            else:
                given = await self.agents.refresh(tx, agent.client_id, wanted, now)
        if isinstance(given, Rejection):
            log.info("grant rejected", client_id=agent.client_id, reason=given.reason)
            raise OAuthRequestError("invalid_grant")
        return ConsentToken(
            given.access_token, "Bearer", given.seconds, refresh_token=given.refresh_token, scope=given.scope
        )

    async def _revoke(self, call: Call, request: ClientRequest, token: str) -> None:
        now = self.clock.now()
        consent = await self._consent_in(call, request, token)
        async with transaction(self.issuer.database, request.actor) as tx:
            if consent is not None and consent.grant_id is not None:
                await revoke_grant(tx, request.client_id, consent.grant_id, consent.customer_id, now)
                return
            was_revoked = await revoke_refresh_token(tx, request.client_id, token, now)
            if was_revoked is None:
                await revoke_access_token(tx, request.client_id, token, now)
        if was_revoked is False:
            raise OAuthRequestError("invalid_grant", "token: was issued to another application")

    async def _consent_in(self, call: Call, request: ClientRequest, token: str) -> GivenConsent | None:
        """Return the application's consent in a token if the token is one and has not expired."""
        try:
            read = SubjectToken.read(token)
        except InvalidSubjectTokenError:
            return None
        audience = audience_of(call.request, self.base_url)
        keys = await self.issuer.keys(read.key_id, audience)
        try:
            return read.consent(keys, Consent(audience, request.client_id), self.clock.now())
        except InvalidSubjectTokenError:
            return None


def _actor_of(agent: AgentClient, call: Call) -> Actor:
    return Actor("agent", agent.name, agent.client_id, address=sender_of(call.request.scope).address)


def _require_resource(fields: Mapping[str, str], resource: str) -> None:
    """Check what a token is asked for (RFC 8707). Raises OAuthRequestError (invalid_target)."""
    if fields.get("resource", resource).rstrip("/") != resource:
        raise OAuthRequestError("invalid_target", f"resource: must be {resource}")


def _read_request(fields: Mapping[str, str]) -> CodeRequest | str:
    """Return a code with what belongs to it, or a refresh token. Raises OAuthRequestError."""
    if fields.get("grant_type", _GRANT_TYPES[0]) not in _GRANT_TYPES:
        raise OAuthRequestError("unsupported_grant_type", f"grant_type: must be {' or '.join(_GRANT_TYPES)}")
    wanted = read_form(fields, ConsentRequest)
    if wanted.grant_type == "refresh_token":
        return _required("refresh_token", wanted.refresh_token)
    return CodeRequest(
        _required("code", wanted.code),
        _required("redirect_uri", wanted.redirect_uri),
        _required("code_verifier", wanted.code_verifier),
    )


def _required(name: str, value: str | UnsetType) -> str:
    if value is UNSET:
        raise OAuthRequestError("invalid_request", f"{name}: is required")
    return value
