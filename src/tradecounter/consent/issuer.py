"""The own issuer: its keys, and the signed consents and refresh tokens that applications get for codes (RFC 9700).

Whatever is wrong with a code or a refresh token, the application learns only `invalid_grant`; the log has the reason.
"""

import json
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from joserfc import jwt
from joserfc.jwk import ECKey, import_key
from msgspec import Struct

from tradecounter.audit.record import audit
from tradecounter.consent.queries import (
    GrantRecord,
    find_current_key,
    find_refresh_token_state,
    insert_refresh_token,
    lock_grant_of_code,
    lock_grant_of_refresh_token,
    lock_keys,
    lock_sealed_keys,
    public_keys,
    replace_key,
    store_sealed_key,
    use_code,
    use_refresh_token,
)
from tradecounter.consent.rules import CONSENT_LIFETIME, KEY_PUBLIC_FOR, REFRESH_LIFETIME, fits
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.identity.oauth.issuer import IssuerKeys
from tradecounter.identity.oauth.queries.access_tokens import end_grant, revoke_token
from tradecounter.identity.vault import Vault
from tradecounter.kit.clock import Clock
from tradecounter.settings import Settings

ALGORITHM = "ES256"
_CURVE = "P-256"


class LostKeyError(RuntimeError):
    """The key that signs cannot be decrypted with the configured secret keys."""

    def __init__(self) -> None:
        super().__init__("the issuer's key cannot be decrypted: restore the secret key, or run `issuer rotate`")


def issuer_vault(keys: Callable[[], Sequence[str]]) -> Vault:
    """Return the vault with the issuer's private keys."""
    return Vault("issuer keys", keys)


async def signing_key(tx: Transaction, vault: Vault, now: datetime) -> ECKey:
    """Return the signing key. Without one, make it. Raises LostKeyError.

    Call this before the transaction locks rows: making a key takes an advisory lock.
    """
    key = await key_that_signs(tx, vault)
    if key is None:
        await lock_keys(tx)
        key = await key_that_signs(tx, vault)  # another process may have made it meanwhile
    if key is None:
        key = await _make_key(tx, vault, now)
        audit(tx, "issuer.make_key", "settings/issuer", now, after={"kid": key.kid})
    return key


async def key_that_signs(tx: Transaction, vault: Vault) -> ECKey | None:
    """Return the key that signs, or None before it is made. Raises LostKeyError."""
    sealed = await find_current_key(tx)
    if sealed is None:
        return None
    opened = vault.unseal(sealed)
    if opened is None:
        raise LostKeyError
    return ECKey.import_key(json.loads(opened))


async def published_keys(tx: Transaction, now: datetime) -> list[dict[str, Any]]:
    """Return the public keys as JSON Web Keys: the one that signs, and the retired ones whose tokens may be valid."""
    return [json.loads(text) for text in await public_keys(tx, now - KEY_PUBLIC_FOR)]


async def rotate_key(tx: Transaction, vault: Vault, now: datetime) -> str:
    """Replace the key that signs, in all processes at once, and return the new one's id."""
    await lock_keys(tx)
    key = await _make_key(tx, vault, now)
    audit(tx, "issuer.rotate", "settings/issuer", now, after={"kid": key.kid})
    return str(key.kid)


async def reseal_keys(tx: Transaction, secret_keys: Sequence[str]) -> None:
    """Re-encrypt the keys with the first secret key. Keys that cannot be decrypted are deleted: others are made."""
    vault = issuer_vault(lambda: secret_keys)
    for kid, sealed in await lock_sealed_keys(tx):
        await store_sealed_key(tx, kid, vault.reseal(sealed))


async def _make_key(tx: Transaction, vault: Vault, now: datetime) -> ECKey:
    key = ECKey.generate_key(_CURVE, {"use": "sig", "alg": ALGORITHM}, auto_kid=True)
    private = json.dumps(key.as_dict(private=True)).encode()
    await replace_key(tx, str(key.kid), json.dumps(key.as_dict(private=False)), await vault.seal(tx, private), now)
    return key


ISSUER_PATH = "/auth"  # below the base URL


def issuer_name(base_url: str) -> str:
    """Return the issuer's name for the service at a base URL."""
    return f"{base_url}{ISSUER_PATH}"


class OwnIssuer(Struct, frozen=True):
    """The own issuer. Keys are read from the database each time, so a rotation counts in all processes at once."""

    database: Database
    clock: Clock
    vault: Vault

    @classmethod
    def from_settings(cls, settings: Settings, database: Database, clock: Clock) -> "OwnIssuer":
        """Return the own issuer; the secret keys are read at the first use."""
        return cls(database, clock, issuer_vault(lambda: secret_keys(settings)))

    async def keys(self, kid: str | None, base_url: str) -> IssuerKeys:
        """Return the public keys whose tokens may be valid."""
        async with reading(self.database) as tx:
            published = await published_keys(tx, self.clock.now())
        return IssuerKeys(issuer_name(base_url), tuple(import_key(key) for key in published), own=True)

    async def key_set(self) -> list[dict[str, str]]:
        """Return the public keys as JSON Web Keys. Without any, make the first one."""
        async with reading(self.database) as tx:
            published = await published_keys(tx, self.clock.now())
        if not published:
            async with transaction(self.database) as tx:
                await signing_key(tx, self.vault, self.clock.now())
                published = await published_keys(tx, self.clock.now())
        return published


_TOKEN_REUSED = "the refresh token was used before"  # noqa: S105 a reason


class GrantedConsent(Struct, frozen=True):
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


async def redeem_code(
    tx: Transaction, client_id: str, request: CodeRequest, now: datetime
) -> GrantedConsent | Rejection:
    """Redeem a code of an application, unless it is not valid.

    The first attempt uses a code up, also a wrong one. A second attempt ends what the first one gave. Both change the
    database, so the caller commits also after a rejection.
    """
    grant = await lock_grant_of_code(tx, request.code)
    if grant is None or grant.client_id != client_id:
        return Rejection("the code is unknown, or another application's")
    problem = _grant_problem(grant, request, now)
    await use_code(tx, grant.id, now)
    if problem is not None:
        await _end_grant(tx, grant, problem, now)
        return Rejection(problem)
    return await _give_tokens(tx, grant, now)


async def refresh(tx: Transaction, client_id: str, token: str, now: datetime) -> GrantedConsent | Rejection:
    """Replace a refresh token of an application, unless it is not valid.

    A token that was used before has been stolen, either now or then: its grant ends. The caller commits also after a
    rejection.
    """
    grant = await lock_grant_of_refresh_token(tx, token)
    state = None if grant is None else await find_refresh_token_state(tx, token)
    if grant is None or state is None or grant.client_id != client_id:
        return Rejection("the refresh token is unknown, or another application's")
    if state.used_at is not None:
        await _end_grant(tx, grant, _TOKEN_REUSED, now)
        return Rejection(_TOKEN_REUSED)
    if not grant.usable or state.expires_at <= now:
        return Rejection("the refresh token has expired or is revoked, or its customer is blocked")
    await use_refresh_token(tx, token, now)
    return await _give_tokens(tx, grant, now)


async def revoke_refresh_token(tx: Transaction, client_id: str, token: str, now: datetime) -> bool | None:
    """End the grant of a refresh token; return None for an unknown token, False for another application's."""
    grant = await lock_grant_of_refresh_token(tx, token)
    if grant is None:
        return None
    if grant.client_id != client_id:
        return False
    await _end_grant(tx, grant, "revoked by the application", now)
    return True


async def revoke_access_token(tx: Transaction, client_id: str, token: str, now: datetime) -> None:
    """Revoke one access token of an application; do nothing for an unknown token."""
    if await revoke_token(tx, token, client_id, now):
        audit(tx, "application.revoke_token", f"application/{client_id}", now)


async def revoke_grant(tx: Transaction, client_id: str, grant_id: int, customer_id: int, now: datetime) -> None:
    """End a grant, which the caller knows to be the application's."""
    if await end_grant(tx, grant_id, now):
        _record_end(tx, client_id, customer_id, "revoked by the application", now)


def signed_consent(
    key: ECKey, granted_consent: GrantedConsent, client_id: str, base_url: str, issuer: str, now: datetime
) -> str:
    """Return a consent as a signed JWT, for `POST /oauth/token`."""
    claims = {
        "iss": issuer,
        "aud": base_url,
        "sub": str(granted_consent.customer_id),
        "client_id": client_id,
        "grant": granted_consent.grant_id,
        "iat": int(now.timestamp()),
        "exp": int((now + CONSENT_LIFETIME).timestamp()),
        "jti": secrets.token_hex(16),
    }
    return jwt.encode({"alg": ALGORITHM, "kid": key.kid, "typ": "consent+jwt"}, claims, key)


def _grant_problem(grant: GrantRecord, request: CodeRequest, now: datetime) -> str | None:
    wrong = {
        "the code was used before": grant.code_used_at is not None,
        "the code has expired": grant.code_expires_at <= now,
        "the consent is revoked, or the customer is blocked": not grant.usable,
        "redirect_uri: differs from that of the code": request.redirect_uri != grant.redirect_uri,
        "code_verifier: does not fit the code's challenge": not fits(request.code_verifier, grant.code_challenge),
    }
    return next((problem for problem, applies in wrong.items() if applies), None)


async def _give_tokens(tx: Transaction, grant: GrantRecord, now: datetime) -> GrantedConsent:
    token = await insert_refresh_token(tx, grant.id, now, now + REFRESH_LIFETIME)
    return GrantedConsent(grant.customer_id, grant.id, token)


async def _end_grant(tx: Transaction, grant: GrantRecord, reason: str, now: datetime) -> None:
    if await end_grant(tx, grant.id, now) and grant.code_used_at is not None:
        _record_end(tx, grant.client_id, grant.customer_id, reason, now)


def _record_end(tx: Transaction, client_id: str, customer_id: int, reason: str, now: datetime) -> None:
    after = {"customer_id": customer_id, "reason": reason}
    audit(tx, "consent.end_grant", f"application/{client_id}", now, after=after)
