"""Judging a subject token: a signed JWT by which a customer consents to an application (specification, section 4)."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from joserfc.errors import JoseError
from joserfc.jwk import Key
from joserfc.jws import CompactSignature, JWSRegistry, extract_compact, validate_compact
from msgspec import UNSET, UnsetType

from tradecounter.identity.issuer_documents import IssuerKeys

LEEWAY = timedelta(seconds=60)

# Asymmetric ones only: with a secret algorithm the public key would do for signing.
ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"}
)
_CUSTOMER_ID = re.compile(r"[1-9][0-9]{0,17}")


class RefusedSubjectTokenError(Exception):
    """The subject token is not good; why is nobody's business."""


@dataclass(frozen=True, slots=True)
class Consent:
    """What a subject token has to say: for whom it is, and to whom it was given."""

    audience: str
    client_id: str


class _Claims(msgspec.Struct):
    iss: str
    sub: str
    aud: str | list[str]
    exp: int | float
    nbf: int | float | UnsetType = UNSET
    iat: int | float | UnsetType = UNSET
    client_id: str | UnsetType = UNSET
    azp: str | UnsetType = UNSET


class _Signatures(JWSRegistry):
    """The library's rules, with our choice of algorithms; headers that nobody knows are ignored, as RFC 7515 has it."""

    max_header_length = 8 * 1024

    def __init__(self) -> None:
        super().__init__(algorithms=ALGORITHMS, strict_check_header=False)

    def get_alg(self, name: str) -> Any:
        """Return an algorithm of ours; "EdDSA" is one, whatever it is to be called in future."""
        return self.algorithms[name]


_signatures = _Signatures()


@dataclass(frozen=True, slots=True)
class SubjectToken:
    """A subject token that may be good: it has the right form, and names an algorithm that is allowed."""

    signed: CompactSignature
    key_id: str | None

    @classmethod
    def read(cls, text: str) -> "SubjectToken":
        """Read a token without believing it. Raises RefusedSubjectTokenError.

        Keys and addresses that it brings along are not looked at; extensions that it calls critical are not known.
        """
        try:
            signed = extract_compact(text.encode(), registry=_signatures)
            header = signed.headers()
            if {"crit", "b64"} & header.keys() or header.get("alg") not in ALGORITHMS:
                raise RefusedSubjectTokenError
            _signatures.check_header(header)
        except (JoseError, AttributeError, TypeError, ValueError, RecursionError) as error:
            raise RefusedSubjectTokenError from error  # the header may be any JSON: nobody has checked it
        return cls(signed, header.get("kid"))

    def customer(self, issuer: IssuerKeys, wanted: Consent, now: datetime) -> int:
        """Return the id of the customer who consents. Raises RefusedSubjectTokenError."""
        if not any(self._is_signed_by(key) for key in issuer.keys if self.key_id in {None, key.kid}):
            raise RefusedSubjectTokenError
        try:
            claims = msgspec.json.decode(self.signed.payload, type=_Claims)
        except (msgspec.DecodeError, RecursionError) as error:
            raise RefusedSubjectTokenError from error
        if claims.iss != issuer.name or not _consents(claims, wanted) or not _is_current(claims, now.timestamp()):
            raise RefusedSubjectTokenError
        if not _CUSTOMER_ID.fullmatch(claims.sub):
            raise RefusedSubjectTokenError
        return int(claims.sub)

    def _is_signed_by(self, key: Key) -> bool:
        try:
            return validate_compact(self.signed, key, registry=_signatures)
        except (JoseError, ValueError, TypeError):  # a key of another kind
            return False


def _consents(claims: _Claims, wanted: Consent) -> bool:
    audiences = [claims.aud] if isinstance(claims.aud, str) else claims.aud
    given_to = {claim for claim in (claims.client_id, claims.azp) if claim is not UNSET}
    return wanted.audience in audiences and given_to == {wanted.client_id}


def _is_current(claims: _Claims, now: float) -> bool:
    earliest, latest = now - LEEWAY.total_seconds(), now + LEEWAY.total_seconds()
    return claims.exp > earliest and all(moment is UNSET or moment <= latest for moment in (claims.nbf, claims.iat))
