"""What a key may do, from where and until when (specification, limits of keys).

A key without limits may do everything, from anywhere, until it is disabled.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import Struct

from tradecounter.edge.permissions import KEY_SCOPES, KeyScope
from tradecounter.edge.server.client_address import Address, Network, read_networks
from tradecounter.kit.error_codes import Code
from tradecounter.kit.errors import DomainError, Kind


class KeyLimits(Struct, frozen=True):
    """The limits of a key; without `networks`, it may be used from anywhere."""

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
    found = frozenset(KEY_SCOPES if scopes is None else scopes)
    read = read_networks(",".join(networks))
    if found.issuperset(KEY_SCOPES) and expires_at is None and not read:
        return None
    return KeyLimits(found, expires_at, read)


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
