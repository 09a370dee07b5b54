"""Letting a request in: the address first, then the credential, then the rate limit (decisions, order of checks)."""

from dataclasses import dataclass, field

from tradecounter.db.changes import Versions
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction
from tradecounter.identity.caller import Authenticator
from tradecounter.identity.client_address import ClientAddresses
from tradecounter.identity.counted_log import CountedLog
from tradecounter.identity.credentials import (
    ApiKey,
    BearerToken,
    ExpiredTokenError,
    InvalidCredentialError,
    Presented,
    credential_of,
)
from tradecounter.identity.lockout import BlockedError, Lockout
from tradecounter.identity.rate_limit import Quota, RateLimit
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError
from tradecounter.settings import Settings


@dataclass(frozen=True, slots=True)
class Admitted:
    """A customer whose request was let in, and what it has left; None without a limit."""

    customer_id: int
    quota: Quota | None


@dataclass(frozen=True, slots=True)
class Admission:
    """The checks that every request with a credential passes."""

    addresses: ClientAddresses
    lockout: Lockout
    authenticator: Authenticator
    rate_limit: RateLimit
    _refused: CountedLog = field(default_factory=lambda: CountedLog("credential refused"))
    _turned_away: CountedLog = field(default_factory=lambda: CountedLog("request from a blocked address refused"))

    @classmethod
    def from_settings(cls, settings: Settings, database: Database, clock: Clock) -> "Admission":
        """Return the checks as configured."""
        return cls(
            ClientAddresses(settings.trusted_proxies),
            Lockout(database, clock),
            Authenticator(database, clock),
            RateLimit(clock, settings.rate_limit),
        )

    async def admit(self, presented: Presented, *, counts: bool) -> Admitted:
        """Let a request in, counting it against the rate limit unless it is of a kind that does not count.

        Raises BlockedError, MissingCredentialError, InvalidCredentialError or RateLimitedError. An expired token is
        refused like a wrong one, but does not count towards a block.
        """
        self.check_address(presented)
        prefix = None
        try:
            credential = credential_of(presented)
            prefix = credential.prefix
            customer_id = await self.authenticator.customer_of(credential)
        except ExpiredTokenError:
            raise
        except InvalidCredentialError:
            await self.record_failure(presented, prefix=prefix)
            raise
        return Admitted(customer_id, self.rate_limit.count(customer_id, 1 if counts else 0))

    def check_address(self, presented: Presented) -> None:
        """Raise BlockedError when a request comes from a blocked address."""
        try:
            self.lockout.check(presented.address)
        except BlockedError:
            self._turned_away.add(address=presented.address)
            raise

    async def record_failure(self, presented: Presented, **known: str | None) -> None:
        """Log and count a wrong credential, with what is known of it that is no secret. Raises BlockedError."""
        self._refused.add(address=presented.address, **known)
        await self.lockout.record_failure(presented.address, ignores_forwarding=presented.ignores_forwarding)

    def recognise(self, address: str, credential: ApiKey | BearerToken) -> int | None:
        """Return who sends a request if it can be let in without asking the database; otherwise `admit` has to decide.

        It is not counted against the rate limit.
        """
        try:
            self.lockout.check(address)
            return self.authenticator.remembered_customer(credential)
        except DomainError:
            return None

    async def refresh(self, tx: Transaction, versions: Versions) -> None:
        """Catch up with changed keys and new blocks."""
        await self.authenticator.refresh(tx, versions)
        await self.lockout.refresh(tx, versions)

    async def share(self, database: Database) -> None:
        """Write down what was counted here, and read what others counted."""
        await self.rate_limit.share(database)
        await self.authenticator.record_uses(database)
