"""Counts wrong passwords and codes, slows down those who guess, and checks one sign-in of an address at a time."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Literal

import structlog
from msgspec import Struct, field

from tradecounter.access.queries.passwords import (
    LINK_REQUESTS_OF,
    forget_guesses,
    guesses_since,
    insert_guess,
    lock_guesses,
)
from tradecounter.access.rules import GUESSING_WINDOW
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import Person, Site, noun_of
from tradecounter.edge.server.counted_log import CountedLog
from tradecounter.kit.email_addresses import LONGEST_EMAIL
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.text import fold, plural

log = structlog.get_logger()


class SlowedAddressError(DomainError):
    """Every sign-in from the address has to wait, also with a right password."""


class Attempt(Struct, frozen=True):
    """A pair of account and network address, whose wrong passwords and codes are counted together."""

    account: str
    address: str

    @classmethod
    def at(cls, site: Site, email: str, address: str) -> "Attempt":
        """Return the pair for an e-mail address that was typed at a site, shortened to what fits an index."""
        return cls(f"{site} {fold(email[:LONGEST_EMAIL])[:LONGEST_EMAIL]}", address)

    @classmethod
    def for_link(cls, address: str) -> "Attempt":
        """Return what requests of an address for mailed links count as: they are no wrong passwords.

        So do requests that have this service fetch a document; `address` names the user who sent them.
        """
        return cls(f"{LINK_REQUESTS_OF}{address}", address)


async def count_attempt(tx: Transaction, attempt: Attempt, now: datetime) -> int:
    """Count an attempt as wrong before it is checked, so that simultaneous ones count too; return its id.

    Raises DomainError (too many requests), also for a right password.
    """
    await lock_guesses(tx, attempt.address)
    guesses = await guesses_since(tx, attempt.account, attempt.address, now - GUESSING_WINDOW)
    is_for_link = attempt.account.startswith(LINK_REQUESTS_OF)
    if not is_for_link and (wait := guesses.address_wait(now)):
        raise _too_many(_PASSWORDS, wait, SlowedAddressError)
    if wait := guesses.wait(now):
        raise _too_many("requests" if is_for_link else _PASSWORDS, wait)
    return await insert_guess(tx, attempt.account, attempt.address, now)


async def forget_attempts(tx: Transaction, attempt: Attempt) -> None:
    """Forget the wrong passwords and codes of a pair, after a right password or code."""
    await forget_guesses(tx, attempt.account, attempt.address)


def log_failure(site: Site, person: Person | None, address: str, step: Literal["password", "code", "again"]) -> None:
    """Log a failed sign-in. What was typed as an address may be a password, so only a known person is named."""
    who = None if person is None else f"{noun_of(person)}/{person.id}"
    log.warning("sign-in failed", site=site, step=step, person=who, address=address)


_PASSWORDS = "wrong passwords"


def _too_many(what: str, wait: timedelta, kind: type[DomainError] = DomainError) -> DomainError:
    seconds = math.ceil(wait.total_seconds())
    message = f"too many {what}: try again in {plural(seconds, 'second')}"
    return kind(Kind.TOO_MANY_REQUESTS, message, retry_after=seconds)


MOST_WAITING = 20  # of an address; people behind one address sign in at the same time in the morning
_FREE_REJECTIONS = 3  # at the same time, of an address; a flood gets further ones a second later, to send less
_PAUSE_SECONDS = 1
_MOST_SLOWED = 1000


class _Line(Struct):
    """The sign-ins of an address that are under way, and the turn."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    length: int = 0


class Turns:
    """The sign-ins that wait, by address, or by what else has a line of its own. Needs a running event loop.

    A sign-in that waits for its turn holds no connection. Each process of a site has turns of its own; the counts of
    wrong passwords are in the database.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._lines: dict[str, _Line] = {}
        self._slowed: dict[str, datetime] = {}  # until when; the database knows, this spares it
        self._rejected = CountedLog("sign-in from an address that is slowed down rejected")

    @asynccontextmanager
    async def turn(self, address: str) -> AsyncIterator[None]:
        """Run a block when all earlier sign-ins of an address are through.

        Raises DomainError (too many requests) while the address is slowed down, and when too many wait already.
        """
        line = self._lines.setdefault(address, _Line())
        line.length += 1
        try:
            await self._check(address, line)
            async with line.turn:
                if error := self._slowed_error(address):
                    raise error
                yield
        except SlowedAddressError as error:
            self._rejected.add(address=address)
            self._note(address, error)
            raise
        finally:
            line.length -= 1
            if not line.length:
                del self._lines[address]

    async def _check(self, address: str, line: _Line) -> None:
        error = self._slowed_error(address)
        if error is None and line.length > MOST_WAITING:
            message = f"too many sign-ins at once from your address: try again in {_PAUSE_SECONDS} second"
            error = DomainError(Kind.TOO_MANY_REQUESTS, message, retry_after=_PAUSE_SECONDS)
        if error is not None:
            if line.length > _FREE_REJECTIONS:
                await asyncio.sleep(_PAUSE_SECONDS)
            raise error

    def _slowed_error(self, address: str) -> DomainError | None:
        now = self._now()
        if (until := self._slowed.get(address, now)) > now:
            return _too_many(_PASSWORDS, until - now, SlowedAddressError)
        self._slowed.pop(address, None)
        return None

    def _note(self, address: str, error: SlowedAddressError) -> None:
        if len(self._slowed) >= _MOST_SLOWED:
            now = self._now()
            self._slowed = {each: until for each, until in self._slowed.items() if until > now}
        if len(self._slowed) < _MOST_SLOWED:
            self._slowed.setdefault(address, self._now() + timedelta(seconds=error.retry_after or 0))
