"""Exchanges a customer's consent for an access token (specification, token exchange)."""

from datetime import timedelta

import structlog
from msgspec import Struct

from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.identity.oauth.issuer import KeySource
from tradecounter.identity.oauth.queries.access_tokens import consent_revoked_at, issue_token
from tradecounter.identity.oauth.queries.consents import find_grant_state
from tradecounter.identity.oauth.subject_token import Consent, GivenConsent, InvalidSubjectTokenError, SubjectToken
from tradecounter.identity.oauth.token_request import OAuthRequestError
from tradecounter.kit.clock import Clock

log = structlog.get_logger()


class TokenExchange(Struct, frozen=True):
    """Exchanges subject tokens; uses no database connection while it fetches the issuer's keys."""

    database: Database
    clock: Clock
    issuer: KeySource
    lifetime: timedelta

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
            now = self.clock.now()
            token = await issue_token(tx, client_id, given.customer_id, now, self.lifetime, given.grant_id)
            if token is None:
                raise InvalidSubjectTokenError(f"sub: customer {given.customer_id} does not exist, or is blocked")
            if given.grant_id is not None:
                await _require_open_grant(tx, given.grant_id, client_id, given.customer_id)
                return token
            revoked_at = await consent_revoked_at(tx, client_id, given.customer_id)
            if revoked_at is not None:
                given.require_later_than(revoked_at)
        return token

    async def _given_consent(self, subject_token: str, wanted: Consent) -> GivenConsent:
        token = SubjectToken.read(subject_token)
        keys = await self.issuer.keys(token.key_id, wanted.audience)
        return token.consent(keys, wanted, self.clock.now())


async def _require_open_grant(tx: Transaction, grant_id: int, client_id: str, customer_id: int) -> None:
    """Check that a grant has not ended. Raises InvalidSubjectTokenError."""
    state = await find_grant_state(tx, grant_id)
    if state is None or (state.client_id, state.customer_id) != (client_id, customer_id):
        raise InvalidSubjectTokenError(f"grant: {grant_id} does not exist")
    if state.ended:
        raise InvalidSubjectTokenError(f"grant: {grant_id} has ended")
