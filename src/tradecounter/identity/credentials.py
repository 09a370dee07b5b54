"""The credential of a request (specification, section 5)."""

from collections.abc import Sequence
from urllib.parse import unquote_plus

from msgspec import Struct

from tradecounter.edge.rest.parameters import MOST_PARTS
from tradecounter.identity.secret_hash import secret_hash
from tradecounter.kit.errors import DomainError, Kind

CREDENTIAL_LENGTH = 64  # of API keys and access tokens
PREFIX_LENGTH = 8  # characters by which people identify a key; the rest stays secret


class InvalidCredentialError(DomainError):
    """The presented credential is not valid."""

    def __init__(self) -> None:
        super().__init__(Kind.UNAUTHENTICATED, "the credential is not valid")


class ExpiredCredentialError(InvalidCredentialError):
    """The presented key or token has expired. This is not a guess, so it does not count as a failure."""


class MissingCredentialError(DomainError):
    """No credential was presented."""

    def __init__(self) -> None:
        super().__init__(Kind.UNAUTHENTICATED, "a credential is required")


class ApiKey(Struct, frozen=True):
    """The hash and the beginning of a presented API key."""

    hash: bytes
    prefix: str


class BearerToken(Struct, frozen=True):
    """The hash and the beginning of a presented bearer token."""

    hash: bytes
    prefix: str


Credential = ApiKey | BearerToken


def read_credential(authorization: Sequence[str], api_keys: Sequence[str], raw_query: str) -> Credential:
    """Return the credential of a request. Raises MissingCredentialError or InvalidCredentialError (malformed).

    A bearer token takes precedence; then the header `X-Api-Key`, then the parameter `api-key`. If the first of these
    is invalid, the others are not tried. A bearer token beside a second `Authorization` is invalid.
    """
    if authorization and (token := _bearer_token(authorization)) is not None:
        return BearerToken(_hash_of(token), token[:PREFIX_LENGTH])
    keys = [key for value in api_keys if (key := value.strip())]
    if not keys:
        parts = (part.partition("=") for part in raw_query.split("&", MOST_PARTS)[:MOST_PARTS])
        keys = [unquote_plus(value).strip() for name, _, value in parts if unquote_plus(name) == "api-key" and value]
    if not keys:
        raise MissingCredentialError
    if len(keys) > 1:
        raise InvalidCredentialError
    return ApiKey(_hash_of(keys[0]), keys[0][:PREFIX_LENGTH])


def _bearer_token(authorization: Sequence[str]) -> str | None:
    """Return the bearer token, or None when no header has that scheme."""
    for value in authorization:
        scheme, *token = value.split(maxsplit=1) or [""]
        if scheme.lower() == "bearer":
            if not token and len(authorization) == 1:
                raise MissingCredentialError
            if not token or len(authorization) > 1:
                raise InvalidCredentialError
            return token[0].strip()
    return None


def _hash_of(text: str) -> bytes:
    if len(text) != CREDENTIAL_LENGTH or not text.isascii():
        raise InvalidCredentialError
    return secret_hash(text)
