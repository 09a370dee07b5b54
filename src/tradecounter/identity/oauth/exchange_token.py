"""Validates subject tokens, and exchanges them for access tokens (specification, section 4)."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import structlog
from joserfc.errors import JoseError
from joserfc.jwk import Key
from joserfc.jws import CompactSignature, JWSRegistry, extract_compact, validate_compact
from msgspec import UNSET, Struct, UnsetType

from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.identity.oauth.issuer import IssuerKeys, KeySource
from tradecounter.identity.oauth.queries.access_tokens import consent_revoked_at, issue_token, lock_grant_state
from tradecounter.identity.wire import OAuthRequestError
from tradecounter.kit.clock import Clock

LEEWAY = timedelta(seconds=60)

# Only asymmetric algorithms: with a symmetric one, anyone could sign with the public key.
ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"}
)
_TYPES = frozenset({"jwt", "consent+jwt"})  # a token of another type was signed for another purpose
_CUSTOMER_ID = re.compile(r"[1-9][0-9]{0,17}")


class InvalidSubjectTokenError(Exception):
    """The subject token is not valid. The reason is for the log, not for the client."""


class Consent(Struct, frozen=True):
    """The consent that a subject token must contain: for which API, and to which application."""

    audience: str
    client_id: str


class GivenConsent(Struct, frozen=True):
    """The customer who consents, and when the token was issued (seconds since 1970), if known.

    `grant_id` is the grant of the own issuer; None with another issuer.
    """

    customer_id: int
    issued_at: float | None
    grant_id: int | None = None

    def require_later_than(self, revoked_at: datetime) -> None:
        """Check that the consent is later than its revocation. Raises InvalidSubjectTokenError."""
        moment = revoked_at.astimezone(UTC).isoformat(timespec="seconds")
        if self.issued_at is None:
            raise InvalidSubjectTokenError(f"iat: is required, since the application's access was revoked at {moment}")
        if self.issued_at <= revoked_at.timestamp():
            raise InvalidSubjectTokenError(
                f"iat: the application's access was revoked at {moment}; only a token issued later is accepted"
            )


class _Claims(msgspec.Struct):
    iss: str
    sub: str
    aud: str | list[str]
    exp: int | float
    nbf: int | float | UnsetType = UNSET
    iat: int | float | UnsetType = UNSET
    client_id: str | UnsetType = UNSET
    azp: str | UnsetType = UNSET
    grant: Any = UNSET  # of the own issuer; another one may mean something else by it


class _Signatures(JWSRegistry):
    """The library's rules with our algorithms; as in RFC 7515, unknown headers are ignored."""

    max_header_length = 8 * 1024

    def __init__(self) -> None:
        super().__init__(algorithms=ALGORITHMS, strict_check_header=False)

    def get_alg(self, name: str) -> Any:
        """Return an algorithm; the library deprecates the name "EdDSA", which is still accepted."""
        return self.algorithms[name]


_signatures = _Signatures()


class SubjectToken(Struct, frozen=True):
    """A well-formed subject token with an allowed algorithm; its signature and claims are not checked yet."""

    signed: CompactSignature
    key_id: str | None

    @classmethod
    def read(cls, text: str) -> "SubjectToken":
        """Parse a token without trusting it; keys and URLs in it are ignored. Raises InvalidSubjectTokenError."""
        try:
            signed = extract_compact(text.encode(), registry=_signatures)
            header = signed.headers()
            if {"crit", "b64"} & header.keys():
                raise InvalidSubjectTokenError("the header has critical extensions, which are not supported")
            if header.get("alg") not in ALGORITHMS:
                raise InvalidSubjectTokenError(f"alg: must be one of {', '.join(sorted(ALGORITHMS))}")
            if "typ" in header and _without_tree(header["typ"]) not in _TYPES:
                raise InvalidSubjectTokenError("typ: must be JWT or consent+jwt, or absent")
            _signatures.check_header(header)
        except (JoseError, AttributeError, TypeError, ValueError, RecursionError) as error:
            # The header may be any JSON.
            raise InvalidSubjectTokenError("must be a signed JWT in compact form with a valid header") from error
        return cls(signed, header.get("kid"))

    def consent(self, issuer: IssuerKeys, wanted: Consent, now: datetime) -> GivenConsent:
        """Check the signature and the claims; return the consent. Raises InvalidSubjectTokenError."""
        if not any(self._is_signed_by(key) for key in issuer.keys if self.key_id in {None, key.kid}):
            raise InvalidSubjectTokenError("must be signed by a key of the issuer that matches kid and alg")
        try:
            claims = msgspec.json.decode(self.signed.payload, type=_Claims)
        except (msgspec.DecodeError, RecursionError) as error:
            raise InvalidSubjectTokenError(f"the claims cannot be read: {error}") from error
        problem = _problem(claims, issuer, wanted, now.timestamp())
        if problem is not None:
            raise InvalidSubjectTokenError(problem)
        issued_at = None if claims.iat is UNSET else claims.iat
        return GivenConsent(int(claims.sub), issued_at, claims.grant if issuer.own else None)

    def _is_signed_by(self, key: Key) -> bool:
        try:
            return validate_compact(self.signed, key, registry=_signatures)
        except (JoseError, ValueError, TypeError):  # the key does not fit the algorithm
            return False


def _without_tree(media_type: str) -> str:
    """Return a media type in lower case without `application/`, which a token may omit (RFC 7515)."""
    return media_type.lower().removeprefix("application/")


def _problem(claims: _Claims, issuer: IssuerKeys, wanted: Consent, now: float) -> str | None:
    """Return a message about the first wrong claim, with the valid values; None when all are right."""
    earliest, latest = now - LEEWAY.total_seconds(), now + LEEWAY.total_seconds()
    audiences = [claims.aud] if isinstance(claims.aud, str) else claims.aud
    given_to = {claim for claim in (claims.client_id, claims.azp) if claim is not UNSET}
    wrong = {
        f"iss: must be {issuer.name}": claims.iss != issuer.name,
        f"aud: must contain {wanted.audience}": wanted.audience not in audiences,
        "client_id, azp: must name the application that exchanges the token": given_to != {wanted.client_id},
        "exp: the token has expired": not claims.exp > earliest,
        "nbf: the token is not valid yet": claims.nbf is not UNSET and not claims.nbf <= latest,
        "iat: must not be in the future": claims.iat is not UNSET and not claims.iat <= latest,
        "grant: must name a grant": issuer.own and type(claims.grant) is not int,
        "sub: must be a customer's id, as a string": not _CUSTOMER_ID.fullmatch(claims.sub),
    }
    return next((problem for problem, applies in wrong.items() if applies), None)


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
            given_consent = await self._given_consent(subject_token, wanted)
            return await self._issue(wanted.client_id, given_consent)
        except InvalidSubjectTokenError as error:
            log.info("subject token rejected", client_id=wanted.client_id, reason=str(error))
            raise OAuthRequestError("invalid_grant") from error

    async def _issue(self, client_id: str, given_consent: GivenConsent) -> str:
        async with transaction(self.database) as tx:
            now = self.clock.now()
            token = await issue_token(
                tx, client_id, given_consent.customer_id, now, self.lifetime, given_consent.grant_id
            )
            if token is None:
                raise InvalidSubjectTokenError(
                    f"sub: customer {given_consent.customer_id} does not exist, or is blocked"
                )
            if given_consent.grant_id is not None:
                await _require_open_grant(tx, given_consent.grant_id, client_id, given_consent.customer_id)
                return token
            revoked_at = await consent_revoked_at(tx, client_id, given_consent.customer_id)
            if revoked_at is not None:
                given_consent.require_later_than(revoked_at)
        return token

    async def _given_consent(self, subject_token: str, wanted: Consent) -> GivenConsent:
        token = SubjectToken.read(subject_token)
        keys = await self.issuer.keys(token.key_id, wanted.audience)
        return token.consent(keys, wanted, self.clock.now())


async def _require_open_grant(tx: Transaction, grant_id: int, client_id: str, customer_id: int) -> None:
    """Check that a grant has not ended. Raises InvalidSubjectTokenError."""
    state = await lock_grant_state(tx, grant_id)
    if state is None or (state.client_id, state.customer_id) != (client_id, customer_id):
        raise InvalidSubjectTokenError(f"grant: {grant_id} does not exist")
    if state.ended:
        raise InvalidSubjectTokenError(f"grant: {grant_id} has ended")
