"""Admits requests: checks the address, then the credential, then the rate limit (specification, order of checks)."""

from msgspec import Struct, field
from starlette.types import Scope

from tradecounter.db.changes import Versions
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction
from tradecounter.edge.permissions import KeyScope
from tradecounter.edge.server.client_address import Address, ClientAddresses, Hops
from tradecounter.edge.server.counted_log import CountedLog
from tradecounter.identity.authenticator import Authenticator, Holder
from tradecounter.identity.credentials import Credential, ExpiredCredentialError, InvalidCredentialError
from tradecounter.identity.key_limits import require_key_scope, require_network
from tradecounter.identity.live_agent import LiveAgent
from tradecounter.identity.lockout import BlockedError, Lockout
from tradecounter.identity.rate_limit import RateLimit
from tradecounter.kit.actor import Actor, ActorKind
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError
from tradecounter.settings import Settings

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
    customer_id: int | None
    holder: Holder | None
    route: str | None

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
