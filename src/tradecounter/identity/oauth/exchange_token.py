"""Exchanges a customer's consent for an access token (specification, section 4, `POST /oauth/token`)."""

import hmac
from dataclasses import dataclass
from datetime import timedelta

import structlog

from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading, transaction
from tradecounter.identity.oauth.issuer import Issuer
from tradecounter.identity.oauth.queries.access_tokens import consent_revoked_at, issue_token
from tradecounter.identity.oauth.queries.applications import find_secret_hash
from tradecounter.identity.oauth.subject_token import Consent, GivenConsent, InvalidSubjectTokenError, SubjectToken
from tradecounter.identity.oauth.token_request import ClientCredentials, InvalidClientError, OAuthRequestError
from tradecounter.identity.secret_hash import secret_hash
from tradecounter.kit.clock import Clock

log = structlog.get_logger()

_NO_HASH = bytes(32)


@dataclass(frozen=True, slots=True)
class TokenExchange:
    """Exchanges subject tokens; uses no database connection while it fetches the issuer's keys."""

    database: Database
    clock: Clock
    issuer: Issuer | None
    lifetime: timedelta

    async def authenticate(self, presented: ClientCredentials) -> None:
        """Check an application's id and secret. Raises InvalidClientError, also for a disabled application."""
        async with reading(self.database) as tx:
            stored = await find_secret_hash(tx, presented.client_id)
        if not hmac.compare_digest(stored or _NO_HASH, secret_hash(presented.client_secret)):
            raise InvalidClientError

    async def exchange(self, subject_token: str, wanted: Consent) -> str:
        """Return a new access token for the customer who consents.

        Raises OAuthRequestError (invalid_grant) or IssuerUnavailableError. The log has the reason why a subject token
        is rejected, for operators who help the application's developer; the response does not.
        """
        try:
            given = await self._given_consent(subject_token, wanted)
            return await self._issue(wanted.client_id, given)
        except InvalidSubjectTokenError as error:
            log.info("subject token rejected", client_id=wanted.client_id, reason=str(error))
            raise OAuthRequestError("invalid_grant") from error

    async def _issue(self, client_id: str, given: GivenConsent) -> str:
        async with transaction(self.database) as tx:
            token = await issue_token(tx, client_id, given.customer_id, self.clock.now(), self.lifetime)
            if token is None:
                raise InvalidSubjectTokenError(f"sub: customer {given.customer_id} does not exist, or is blocked")
            revoked_at = await consent_revoked_at(tx, client_id, given.customer_id)
            if revoked_at is not None:
                given.require_later_than(revoked_at)
        return token

    async def _given_consent(self, subject_token: str, wanted: Consent) -> GivenConsent:
        if self.issuer is None:
            raise InvalidSubjectTokenError("TRADECOUNTER_AUTH_URL is not set, so no issuer is trusted")
        token = SubjectToken.read(subject_token)
        keys = await self.issuer.keys(token.key_id)
        return token.consent(keys, wanted, self.clock.now())
