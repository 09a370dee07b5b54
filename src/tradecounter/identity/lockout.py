"""Blocks addresses that send wrong credentials again and again (specification, section 5)."""

import math
from datetime import datetime, timedelta

import structlog
from msgspec import Struct, field

from tradecounter.db.changes import Version, Versions
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.edge.server.client_address import TRUSTED_PROXIES
from tradecounter.identity.queries.limits import add_failure, block, current_blocks, find_block, lock_address
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.text import plural

log = structlog.get_logger()

MOST_FAILURES = 10
FAILURE_WINDOW = timedelta(seconds=60)
BLOCKED_FOR = timedelta(minutes=5)


class BlockedError(DomainError):
    """The address is blocked, even with a valid credential."""

    def __init__(self, left: timedelta) -> None:
        seconds = math.ceil(left.total_seconds())
        super().__init__(
            Kind.BLOCKED,
            f"too many invalid credentials came from your address: it is blocked for another "
            f"{plural(seconds, 'second')}",
            retry_after=seconds,
        )


class Lockout(Struct):
    """The blocked addresses; a poll loads the blocks of other processes."""

    database: Database
    clock: Clock
    blocks: int = 0  # that began in this process
    _blocked: dict[str, datetime] = field(default_factory=dict)
    _version: Version | None = None

    @property
    def blocked(self) -> int:
        """How many addresses are blocked; blocks end with a poll."""
        return len(self._blocked)

    def check(self, address: str) -> None:
        """Raise BlockedError when an address is blocked."""
        until = self._blocked.get(address)
        if until is not None and (now := self.clock.now()) < until:
            raise BlockedError(until - now)

    async def record_failure(self, address: str, *, ignores_forwarding: bool = False) -> None:
        """Count a wrong credential; the tenth within a minute blocks its address.

        With `ignores_forwarding`, the peer may be a proxy that the settings do not name, so a block is logged as an
        error. Raises BlockedError when the address is already blocked; the failure does not prolong the block.
        """
        now = self.clock.now()
        async with transaction(self.database) as tx:
            await lock_address(tx, address)
            until = await find_block(tx, address, now)
            before = until
            if until is None and await add_failure(tx, address, now, since=now - FAILURE_WINDOW) >= MOST_FAILURES:
                until = now + BLOCKED_FOR
                await block(tx, address, until)
        if until is not None:
            self._blocked[address] = until
        if before is not None:
            raise BlockedError(before - now)
        if until is not None:
            self.blocks += 1
            _log_block(address, ignores_forwarding=ignores_forwarding)

    async def refresh(self, tx: Transaction, versions: Versions) -> None:
        """Load the blocks of other processes, and drop ended blocks."""
        now = self.clock.now()
        version = versions.of("blocks")
        if version != self._version:
            self._blocked |= await current_blocks(tx, now)
            self._version = version
        if self._blocked:
            self._blocked = {address: until for address, until in self._blocked.items() if until > now}


def _log_block(address: str, *, ignores_forwarding: bool) -> None:
    block = {
        "address": address,
        "reason": f"{MOST_FAILURES} invalid credentials within {int(FAILURE_WINDOW.total_seconds())} seconds",
        "seconds": int(BLOCKED_FOR.total_seconds()),
    }
    if ignores_forwarding:
        log.error(
            "address blocked that may be a proxy: it sends X-Forwarded-For or Forwarded; if it is your proxy, "
            "all clients behind it are blocked until the setting names it",
            **block,
            setting=TRUSTED_PROXIES,
        )
    else:
        log.warning("address blocked", **block)
