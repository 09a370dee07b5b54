"""Whose a credential is (specification, section 5).

What was looked up is remembered, and forgotten when any key, token or application changes or when the database has not
been heard of for a few seconds, so that what is disabled stops working in every process within five.
"""

import math
import time
from dataclasses import dataclass, field

from tradecounter.db.changes import Version, Versions
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.identity.api_keys import ActiveKey, find_active_key, record_use
from tradecounter.identity.credentials import ApiKey, BearerToken, ExpiredTokenError, InvalidCredentialError
from tradecounter.identity.oauth.access_tokens import LiveToken, find_token
from tradecounter.kit.clock import Clock

_TRUSTED_SECONDS = 4.0
_RECORD_EVERY_SECONDS = 60.0
_MOST_REMEMBERED = 100_000


@dataclass(slots=True)
class Authenticator:
    """Tells whose a credential is; remembers keys and tokens between requests."""

    database: Database
    clock: Clock
    _keys: dict[bytes, ActiveKey] = field(default_factory=dict)
    _tokens: dict[bytes, LiveToken] = field(default_factory=dict)
    _version: Version | None = None
    _heard: float = -math.inf
    _used: set[int] = field(default_factory=set)
    _recorded: float = -math.inf

    async def customer_of(self, credential: ApiKey | BearerToken) -> int:
        """Return the id of the customer whom a credential stands for.

        Raises InvalidCredentialError, which for a token that was good once is an ExpiredTokenError.
        """
        customer_id = self.remembered_customer(credential)
        if customer_id is not None:
            return customer_id
        if isinstance(credential, ApiKey):
            key = await self._look_up_key(credential.hash)
            self._used.add(key.id)
            return key.customer_id
        return self._unexpired(await self._look_up_token(credential.hash))

    def remembered_customer(self, credential: ApiKey | BearerToken) -> int | None:
        """Return the id of the customer whom a credential stands for, as far as that is remembered.

        Raises ExpiredTokenError.
        """
        if time.monotonic() - self._heard >= _TRUSTED_SECONDS:
            return None
        if isinstance(credential, BearerToken):
            token = self._tokens.get(credential.hash)
            return None if token is None else self._unexpired(token)
        key = self._keys.get(credential.hash)
        if key is None:
            return None
        self._used.add(key.id)
        return key.customer_id

    def _unexpired(self, token: LiveToken) -> int:
        if token.expires_at <= self.clock.now():
            raise ExpiredTokenError
        return token.customer_id

    async def _look_up_key(self, digest: bytes) -> ActiveKey:
        version = self._version
        async with reading(self.database) as tx:
            found = await find_active_key(tx, digest)
        if found is None:
            self._keys.pop(digest, None)
            raise InvalidCredentialError
        if version == self._version and len(self._keys) < _MOST_REMEMBERED:
            self._keys[digest] = found
        return found

    async def _look_up_token(self, digest: bytes) -> LiveToken:
        version = self._version
        async with reading(self.database) as tx:
            found = await find_token(tx, digest)
        if found is None:
            self._tokens.pop(digest, None)
            raise InvalidCredentialError
        if version == self._version:
            if len(self._tokens) >= _MOST_REMEMBERED:
                self._tokens.clear()  # most of them expired long ago
            self._tokens[digest] = found
        return found

    async def refresh(self, tx: Transaction, versions: Versions) -> None:
        """Forget what was remembered when any key, token or application changed."""
        version = versions.of("keys")
        if version != self._version:
            self._keys.clear()
            self._tokens.clear()
            self._version = version
        self._heard = time.monotonic()

    async def record_uses(self, database: Database) -> None:
        """From time to time, note in the database which keys were used."""
        if self._used and time.monotonic() - self._recorded > _RECORD_EVERY_SECONDS:
            used = sorted(self._used)
            async with transaction(database) as tx:
                await record_use(tx, used, self.clock.now())
            self._used.difference_update(used)
            self._recorded = time.monotonic()
