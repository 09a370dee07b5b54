"""Resolves credentials to customers (specification, section 5).

Keys and tokens are cached after a look-up. The cache is cleared when any key, token or application changes, or a
customer is blocked. It is not used when the last poll of the database is a few seconds old. So a disabled key, or that
of a blocked customer, stops working in every process within five seconds.
"""

import math
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from msgspec import Struct, field

from tradecounter.db.changes import Version, Versions
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.identity.credentials import (
    ApiKey,
    BearerToken,
    Credential,
    ExpiredCredentialError,
    InvalidCredentialError,
)
from tradecounter.identity.live_agent import LiveAgent
from tradecounter.identity.oauth.queries.access_tokens import LiveToken, find_token
from tradecounter.identity.queries.api_keys import ActiveKey, find_active_key, record_use
from tradecounter.kit.clock import Clock

_CACHE_SECONDS = 4.0
_RECORD_EVERY_SECONDS = 60.0
_MOST_CACHED = 100_000

Found = TypeVar("Found")
Holder = ActiveKey | LiveToken | LiveAgent
Find = Callable[[Transaction, bytes], Awaitable[Found | None]]


class Authenticator(Struct):
    """Resolves credentials to customers; caches keys and tokens between requests."""

    database: Database
    clock: Clock
    _keys: dict[bytes, ActiveKey] = field(default_factory=dict)
    _tokens: dict[bytes, LiveToken] = field(default_factory=dict)
    _version: Version | None = None
    _polled_at: float = -math.inf
    _used: set[int] = field(default_factory=set)
    _recorded_at: float = -math.inf

    async def holder_of(self, credential: Credential) -> Holder:
        """Return a credential's key or token. Raises InvalidCredentialError (expired: ExpiredCredentialError)."""
        holder = self.cached_holder(credential)
        if holder is not None:
            return holder
        if isinstance(credential, ApiKey):
            key = self._valid(await self._look_up(self._keys, find_active_key, credential.hash))
            self._used.add(key.id)
            return key
        return self._unexpired(await self._look_up(self._tokens, find_token, credential.hash))

    def cached_holder(self, credential: Credential) -> Holder | None:
        """Return a credential's key or token if it is cached, or None. Raises ExpiredCredentialError."""
        if time.monotonic() - self._polled_at >= _CACHE_SECONDS:
            return None
        if isinstance(credential, BearerToken):
            token = self._tokens.get(credential.hash)
            return None if token is None else self._unexpired(token)
        key = self._keys.get(credential.hash)
        if key is None:
            return None
        self._used.add(self._valid(key).id)
        return key

    def _valid(self, key: ActiveKey) -> ActiveKey:
        if key.limits is not None and key.limits.has_expired(self.clock.now()):
            raise ExpiredCredentialError
        return key

    def _unexpired(self, token: LiveToken) -> LiveToken:
        if token.expires_at <= self.clock.now():
            raise ExpiredCredentialError
        return token

    async def _look_up(self, cache: dict[bytes, Found], find: Find[Found], digest: bytes) -> Found:
        version = self._version
        async with reading(self.database) as tx:
            found = await find(tx, digest)
        if found is None:
            cache.pop(digest, None)
            raise InvalidCredentialError
        if version == self._version:
            if len(cache) >= _MOST_CACHED:
                cache.clear()  # most cached tokens have expired
            cache[digest] = found
        return found

    async def refresh(self, tx: Transaction, versions: Versions) -> None:
        """Clear the cache when any key, token or application changed."""
        version = versions.of("keys")
        if version != self._version:
            self._keys.clear()
            self._tokens.clear()
            self._version = version
        self._polled_at = time.monotonic()

    async def record_uses(self, database: Database) -> None:
        """Record in the database which keys were used, at most once a minute."""
        if self._used and time.monotonic() - self._recorded_at > _RECORD_EVERY_SECONDS:
            used = sorted(self._used)
            async with transaction(database) as tx:
                await record_use(tx, used, self.clock.now())
            self._used.difference_update(used)
            self._recorded_at = time.monotonic()
