"""Gives agents access tokens for `/mcp` and refresh tokens, for codes and for earlier refresh tokens.

Whatever is wrong with a code or a refresh token, the agent learns only `invalid_grant`; the log has the reason.
"""

from datetime import datetime, timedelta

from msgspec import Struct

from tradecounter.agents.consents import end_agent
from tradecounter.agents.queries import (
    AgentConsent,
    end_access_token,
    find_use_of_refresh_token,
    insert_token,
    lock_consent_of_code,
    lock_consent_of_refresh_token,
    use_code,
    use_refresh_token,
)
from tradecounter.consent.issuer import CodeRequest, Rejection
from tradecounter.consent.rules import fits
from tradecounter.db.transaction import Transaction


class AgentTokens(Struct, frozen=True):
    """What an agent gets; `seconds` is how long its access token is valid."""

    access_token: str
    refresh_token: str
    seconds: int
    scope: str


class TokenIssuer(Struct, frozen=True):
    """Issues tokens; their `lifetime` ends with the consent at the latest."""

    lifetime: timedelta

    async def redeem(
        self, tx: Transaction, client_id: str, request: CodeRequest, now: datetime
    ) -> AgentTokens | Rejection:
        """Redeem a client's code, unless it is not valid. The caller commits also after a rejection.

        The first attempt uses a code up, also a wrong one. A second attempt ends what the first one gave.
        """
        consent = await lock_consent_of_code(tx, request.code, now)
        if consent is None or consent.client_id != client_id:
            return Rejection("the code is unknown, or another client's")
        problem = _problem(consent, request, now)
        await use_code(tx, consent.id, now)
        if problem is not None:
            await end_agent(tx, consent, problem, now)
            return Rejection(problem)
        return await self._give(tx, consent, now)

    async def refresh(self, tx: Transaction, client_id: str, token: str, now: datetime) -> AgentTokens | Rejection:
        """Replace a client's refresh token, unless it is not valid. The caller commits also after a rejection.

        A token that was used before has been stolen, either now or then: the consent ends.
        """
        consent = await lock_consent_of_refresh_token(tx, token, now)
        if consent is None or consent.client_id != client_id:
            return Rejection("the refresh token is unknown, or another client's")
        if await find_use_of_refresh_token(tx, token) is not None:
            problem = "the refresh token was used before"
            await end_agent(tx, consent, problem, now)
            return Rejection(problem)
        if not consent.usable:
            return Rejection("the consent has ended, or its person may not give it any more")
        await use_refresh_token(tx, token, now)
        return await self._give(tx, consent, now)

    async def _give(self, tx: Transaction, consent: AgentConsent, now: datetime) -> AgentTokens:
        ends = min(now + self.lifetime, consent.expires_at)
        access = await insert_token(tx, consent.id, now, ends, refreshes=False)
        refresh = await insert_token(tx, consent.id, now, consent.expires_at, refreshes=True)
        return AgentTokens(
            access_token=access,
            refresh_token=refresh,
            seconds=int((ends - now).total_seconds()),
            scope=" ".join(consent.scopes),
        )


async def revoke_agent_token(tx: Transaction, client_id: str, token: str, now: datetime) -> None:
    """End the consent of a client's refresh token, or one of its access tokens; do nothing for another token."""
    consent = await lock_consent_of_refresh_token(tx, token, now)
    if consent is None:
        await end_access_token(tx, token, client_id)
    elif consent.client_id == client_id:
        await end_agent(tx, consent, "revoked by the agent", now)


def _problem(consent: AgentConsent, request: CodeRequest, now: datetime) -> str | None:
    wrong = {
        "the code was used before": consent.code_used_at is not None,
        "the code has expired": consent.code_expires_at <= now,
        "the consent has ended, or its person may not give it any more": not consent.usable,
        "redirect_uri: differs from that of the code": request.redirect_uri != consent.redirect_uri,
        "code_verifier: does not fit the code's challenge": not fits(request.code_verifier, consent.code_challenge),
    }
    return next((problem for problem, applies in wrong.items() if applies), None)
