"""Gives applications signed consent and refresh tokens for codes and for earlier refresh tokens (RFC 6749, RFC 9700).

Whatever is wrong with a code or a refresh token, the application learns only `invalid_grant`; the log has the reason.
"""

import secrets
from datetime import datetime

from joserfc import jwt
from joserfc.jwk import ECKey
from msgspec import Struct

from tradecounter.audit.record import audit
from tradecounter.consent.keys import ALGORITHM
from tradecounter.consent.queries.grants import (
    GrantRecord,
    find_grant_of_code,
    find_grant_of_refresh_token,
    find_refresh_token_state,
    insert_refresh_token,
    use_code,
    use_refresh_token,
)
from tradecounter.consent.rules import CONSENT_LIFETIME, REFRESH_LIFETIME, fits, is_verifier
from tradecounter.db.transaction import Transaction
from tradecounter.identity.oauth.queries.access_tokens import revoke_token
from tradecounter.identity.oauth.queries.consents import end_grant

_CODE_REUSED = "the code was used before"
_TOKEN_REUSED = "the refresh token was used before"  # noqa: S105 a reason


class Given(Struct, frozen=True):
    """Whose consent was given under which grant, and the refresh token."""

    customer_id: int
    grant_id: int
    refresh_token: str


class Rejection(Struct, frozen=True):
    """Why a code or a refresh token is not valid, for the log."""

    reason: str


class CodeRequest(Struct, frozen=True):
    """What an application sends to redeem a code."""

    code: str
    redirect_uri: str
    code_verifier: str


async def redeem_code(tx: Transaction, client_id: str, request: CodeRequest, now: datetime) -> Given | Rejection:
    """Redeem a code of an application, unless it is not valid.

    The first attempt uses a code up, also a wrong one. A second attempt ends what the first one gave. Both change the
    database, so the caller commits also after a rejection.
    """
    grant = await find_grant_of_code(tx, request.code)
    if grant is None or grant.client_id != client_id:
        return Rejection("the code is unknown, or another application's")
    problem = _CODE_REUSED if grant.code_used_at is not None else _problem(grant, request, now)
    if problem is not None:
        await use_code(tx, grant.id, now)
        await _end(tx, grant, problem, now)
        return Rejection(problem)
    await use_code(tx, grant.id, now)
    return await _give(tx, grant, now)


async def refresh(tx: Transaction, client_id: str, token: str, now: datetime) -> Given | Rejection:
    """Replace a refresh token of an application, unless it is not valid.

    A token that was used before has been stolen, either now or then: its grant ends. The caller commits also after a
    rejection.
    """
    grant = await find_grant_of_refresh_token(tx, token)
    state = None if grant is None else await find_refresh_token_state(tx, token)
    if grant is None or state is None or grant.client_id != client_id:
        return Rejection("the refresh token is unknown, or another application's")
    if state.used_at is not None:
        await _end(tx, grant, _TOKEN_REUSED, now)
        return Rejection(_TOKEN_REUSED)
    if not grant.usable or state.expires_at <= now:
        return Rejection("the refresh token has expired or is revoked, or its customer is blocked")
    await use_refresh_token(tx, token, now)
    return await _give(tx, grant, now)


async def revoke_refresh_token(tx: Transaction, client_id: str, token: str, now: datetime) -> bool | None:
    """End the grant of a refresh token; return None for an unknown token, False for another application's."""
    grant = await find_grant_of_refresh_token(tx, token)
    if grant is None:
        return None
    if grant.client_id != client_id:
        return False
    await _end(tx, grant, "revoked by the application", now)
    return True


async def revoke_access_token(tx: Transaction, client_id: str, token: str, now: datetime) -> None:
    """Revoke one access token of an application; do nothing for an unknown token."""
    if await revoke_token(tx, token, client_id, now):
        audit(tx, "application.revoke_token", f"application/{client_id}", now)


async def revoke_grant(tx: Transaction, client_id: str, grant_id: int, customer_id: int, now: datetime) -> None:
    """End a grant, which the caller knows to be the application's."""
    if await end_grant(tx, grant_id, now):
        _record_end(tx, client_id, customer_id, "revoked by the application", now)


def signed_consent(key: ECKey, given: Given, client_id: str, base_url: str, issuer: str, now: datetime) -> str:
    """Return a consent as a signed JWT, for `POST /oauth/token`."""
    claims = {
        "iss": issuer,
        "aud": base_url,
        "sub": str(given.customer_id),
        "client_id": client_id,
        "grant": given.grant_id,
        "iat": int(now.timestamp()),
        "exp": int((now + CONSENT_LIFETIME).timestamp()),
        "jti": secrets.token_hex(16),
    }
    return jwt.encode({"alg": ALGORITHM, "kid": key.kid, "typ": "consent+jwt"}, claims, key)


def _problem(grant: GrantRecord, request: CodeRequest, now: datetime) -> str | None:
    wrong = {
        "the code has expired": grant.code_expires_at <= now,
        "the consent is revoked, or the customer is blocked": not grant.usable,
        "redirect_uri: differs from that of the code": request.redirect_uri != grant.redirect_uri,
        "code_verifier: does not fit the code's challenge": not (
            is_verifier(request.code_verifier) and fits(request.code_verifier, grant.code_challenge)
        ),
    }
    return next((problem for problem, applies in wrong.items() if applies), None)


async def _give(tx: Transaction, grant: GrantRecord, now: datetime) -> Given:
    token = await insert_refresh_token(tx, grant.id, now, now + REFRESH_LIFETIME)
    return Given(grant.customer_id, grant.id, token)


async def _end(tx: Transaction, grant: GrantRecord, reason: str, now: datetime) -> None:
    if await end_grant(tx, grant.id, now) and grant.code_used_at is not None:
        _record_end(tx, grant.client_id, grant.customer_id, reason, now)


def _record_end(tx: Transaction, client_id: str, customer_id: int, reason: str, now: datetime) -> None:
    after = {"customer_id": customer_id, "reason": reason}
    audit(tx, "consent.end_grant", f"application/{client_id}", now, after=after)
