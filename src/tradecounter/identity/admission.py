"""Admits requests: checks the address, resolves the credential, then checks the rate limit."""

import math
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from msgspec import Struct, field
from starlette.types import Scope

from tradecounter.db.changes import Version, Versions
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.edge.permissions import KeyScope
from tradecounter.edge.server.client_address import Address, ClientAddresses, Hops
from tradecounter.edge.server.counted_log import CountedLog
from tradecounter.identity.credentials import (
    ApiKey,
    BearerToken,
    Credential,
    ExpiredCredentialError,
    InvalidCredentialError,
    LiveAgent,
    require_key_scope,
    require_network,
)
from tradecounter.identity.lockout import BlockedError, Lockout
from tradecounter.identity.oauth.queries.access_tokens import LiveToken, find_token
from tradecounter.identity.queries.api_keys import ActiveKey, find_active_key, record_use
from tradecounter.identity.rate_limit import RateLimit
from tradecounter.kit.actor import Actor, ActorKind
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError
from tradecounter.settings import Settings

_CACHE_SECONDS = 4.0
_RECORD_EVERY_SECONDS = 60.0
_MOST_CACHED = 100_000

Found = TypeVar("Found")
Holder = ActiveKey | LiveToken | LiveAgent
Find = Callable[[Transaction, bytes], Awaitable[Found | None]]


class Authenticator(Struct):
    """Resolves credentials to customers; caches keys and tokens between requests.

    Keys and tokens are cached after a look-up. The cache is cleared when any key, token or application changes, or a
    customer is blocked. It is not used when the last poll of the database is a few seconds old. So a disabled key, or
    that of a blocked customer, stops working in every process within five seconds.
    """

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
            identity = await find(tx, digest)
        if identity is None:
            cache.pop(digest, None)
            raise InvalidCredentialError
        if version == self._version:
            if len(cache) >= _MOST_CACHED:
                cache.clear()  # most cached tokens have expired
            cache[digest] = identity
        return identity

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


SENDER = "tradecounter.sender"  # the key in the ASGI scope


class Sender(Struct):
    """The sender of a request, read once and kept in the ASGI scope.

    `credential` is a DomainError if it is missing or malformed. `customer_id` and `holder`, the key or token, are None
    until the request is admitted. `route` is the path of its operation, None until it is found.
    """

    peer: str | None
    hops: Hops | None
    address: str
    credential: Credential | DomainError
    customer_id: int | None = None
    holder: Holder | None = None
    route: str | None = None

    def admitted_as(self, holder: Holder) -> int:
        """Note the key or token of an admitted request, and return its customer."""
        self.holder = holder
        self.customer_id = holder.customer_id
        return holder.customer_id

    def require_one_of(self, *scopes: KeyScope) -> None:
        """Check that an admitted request has one of some scopes. Raises DomainError (forbidden)."""
        if self.holder is not None:
            require_key_scope(self.holder.limits, scopes)

    @property
    def actor(self) -> Actor:
        """The actor of the changes that the request makes."""
        if self.holder is None:
            raise RuntimeError("a request that is not admitted changes nothing")
        kind: ActorKind = "agent" if isinstance(self.holder, LiveAgent) else "key"
        return Actor(kind, self.holder.name, self.holder.id, address=self.address)


def sender_of(scope: Scope) -> Sender:
    """Return the sender of a request."""
    sender: Sender = scope[SENDER]
    return sender


class Admission(Struct, frozen=True):
    """The checks that every request with a credential passes."""

    addresses: ClientAddresses
    lockout: Lockout
    authenticator: Authenticator
    rate_limit: RateLimit
    _invalid: CountedLog = field(default_factory=lambda: CountedLog("credential rejected"))
    _blocked: CountedLog = field(default_factory=lambda: CountedLog("request from a blocked address rejected"))

    @classmethod
    def from_settings(cls, settings: Settings, database: Database, clock: Clock) -> "Admission":
        """Return the checks that the settings configure."""
        return cls(
            ClientAddresses(settings.trusted_proxies),
            Lockout(database, clock),
            Authenticator(database, clock),
            RateLimit(clock, settings.rate_limit),
        )

    async def admit(self, sender: Sender) -> int:
        """Return the customer of a request. The caller must then call `RateLimit.count`.

        Raises BlockedError, MissingCredentialError, InvalidCredentialError, or DomainError (forbidden) from a network
        that the key is not for. An expired key or token is an invalid credential, but does not count towards a block.
        A second call returns the first call's customer.
        """
        if sender.customer_id is not None:
            return sender.customer_id
        self.check_address(sender)
        credential = sender.credential
        try:
            if isinstance(credential, DomainError):
                raise credential
            holder = await self.authenticator.holder_of(credential)
        except ExpiredCredentialError:
            raise
        except InvalidCredentialError:
            prefix = None if isinstance(credential, DomainError) else credential.prefix
            await self.record_failure(sender, prefix=prefix)
            raise
        sender.holder = holder
        if holder.limits is not None:
            require_network(holder.limits, self._client(sender))
        return sender.admitted_as(holder)

    async def check_again(self, sender: Sender) -> None:
        """Check that the credential of an admitted request is still valid. Raises InvalidCredentialError."""
        if not isinstance(sender.credential, DomainError):
            await self.authenticator.holder_of(sender.credential)

    def admit_from_cache(self, sender: Sender, scope: KeyScope) -> int | None:
        """Return the customer if it is known without a query; None when `admit`, or the scope, must decide."""
        credential = sender.credential
        if isinstance(credential, DomainError):
            return None
        try:
            self.lockout.check(sender.address)
            holder = self.authenticator.cached_holder(credential)
        except DomainError:
            return None
        if holder is None:
            return None
        limits = holder.limits
        if limits is not None and not (scope in limits.scopes and limits.admits(self._client(sender))):
            return None
        return sender.admitted_as(holder)

    def _client(self, sender: Sender) -> Address | None:
        return self.addresses.client(sender.peer, sender.hops)

    def check_address(self, sender: Sender) -> None:
        """Raise BlockedError when a request comes from a blocked address."""
        try:
            self.lockout.check(sender.address)
        except BlockedError:
            self._blocked.add(address=sender.address)
            raise

    async def record_failure(self, sender: Sender, **details: str | None) -> None:
        """Log and count an invalid credential. Raises BlockedError. `details` must not contain the secret."""
        self._invalid.add(address=sender.address, **details)
        ignores_forwarding = sender.hops is not None and not self.addresses.trusts(sender.peer)
        await self.lockout.record_failure(sender.address, ignores_forwarding=ignores_forwarding)

    async def refresh(self, tx: Transaction, versions: Versions) -> None:
        """Load changed keys and new blocks."""
        await self.authenticator.refresh(tx, versions)
        await self.lockout.refresh(tx, versions)

    async def share(self, database: Database) -> None:
        """Exchange counts with the other processes."""
        await self.rate_limit.share(database)
        await self.authenticator.record_uses(database)
