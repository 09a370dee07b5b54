"""The credential of a request, the hash of its secret, and what its key may do (specification, section 5)."""

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime
from urllib.parse import unquote_plus

from msgspec import Struct

from tradecounter.edge.permissions import KEY_SCOPES, KeyScope
from tradecounter.edge.rest.parameters import MOST_PARTS
from tradecounter.edge.server.client_address import Address, Network, read_networks
from tradecounter.kit.errors import Code, DomainError, Kind

_BYTES = 32


def new_secret() -> str:
    """Return 256 random bits as 64 hexadecimal characters."""
    return secrets.token_hex(_BYTES)


def secret_hash(secret: str) -> bytes:
    """Return the hash to store; a secret of 256 random bits needs no slow hash."""
    return hashlib.sha256(secret.encode()).digest()


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


class KeyLimits(Struct, frozen=True):
    """The limits of a key; without `networks`, it may be used from anywhere.

    A key without limits may do everything, from anywhere, until it is disabled.
    """

    scopes: frozenset[str]
    expires_at: datetime | None
    networks: Sequence[Network]

    def has_expired(self, now: datetime) -> bool:
        """Return whether the key is no longer valid."""
        return self.expires_at is not None and self.expires_at <= now

    def admits(self, client: Address | None) -> bool:
        """Return whether the key may be used from an address; without a known one, only a key for all networks."""
        return not self.networks or (client is not None and any(client in network for network in self.networks))

    def includes_one_of(self, scopes: Iterable[KeyScope]) -> bool:
        """Return whether the key has one of the scopes that an operation allows."""
        return not self.scopes.isdisjoint(scopes)


def limits_of(scopes: Iterable[str] | None, expires_at: datetime | None, networks: Iterable[str]) -> KeyLimits | None:
    """Return a key's limits as they are stored; None without any, so that usual keys cost no further check."""
    known_scopes = frozenset(KEY_SCOPES if scopes is None else scopes)
    read = read_networks(",".join(networks))
    if known_scopes.issuperset(KEY_SCOPES) and expires_at is None and not read:
        return None
    return KeyLimits(known_scopes, expires_at, read)


def require_key_scope(limits: KeyLimits | None, scopes: Sequence[KeyScope]) -> None:
    """Check that a key has one of the scopes that an operation allows. Raises DomainError (forbidden)."""
    if limits is not None and not limits.includes_one_of(scopes):
        message = f"this needs a key with the scope {' or '.join(scopes)}"
        raise DomainError(Kind.FORBIDDEN, message, code=Code.SCOPE_NEEDED)


def require_network(limits: KeyLimits | None, client: Address | None) -> None:
    """Check that a key may be used from an address. Raises DomainError (forbidden)."""
    if limits is not None and not limits.admits(client):
        message = "the key may not be used from your IP address"
        raise DomainError(Kind.FORBIDDEN, message, code=Code.NETWORK_NOT_ALLOWED)


class LiveAgent(Struct, frozen=True):
    """The access to a customer's account that a user has allowed an agent; `id` is the consent's."""

    id: int
    customer_id: int
    user_id: int
    client_id: str
    agent: str
    allowed_by: str
    scopes: Sequence[str]

    @property
    def name(self) -> str:
        """The agent, with the person who allowed it, for the audit log."""
        return f"{self.agent}, allowed by {self.allowed_by}"

    @property
    def limits(self) -> KeyLimits:
        """Its scopes, as the limits of a key; the caller checks when the consent ends."""
        return KeyLimits(frozenset(self.scopes), None, ())
