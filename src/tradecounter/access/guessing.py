"""Counts wrong passwords and codes, and slows down those who guess."""

import math
from datetime import datetime, timedelta
from typing import Literal

import structlog
from msgspec import Struct

from tradecounter.access.queries.guesses import (
    LINKS,
    forget_guesses,
    guesses_since,
    insert_guess,
    lock_guesses,
)
from tradecounter.access.rules import GUESSING_WINDOW, LONGEST_EMAIL
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import Person, Site, noun_of
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.text import fold

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
        """Return what requests of an address for mailed links count as: they are no wrong passwords."""
        return cls(f"{LINKS}{address}", address)


async def count_attempt(tx: Transaction, attempt: Attempt, now: datetime) -> int:
    """Count an attempt as wrong before it is checked, so that simultaneous ones count too; return its id.

    Raises DomainError (too many requests), also for a right password.
    """
    await lock_guesses(tx, attempt.address)
    guesses = await guesses_since(tx, attempt.account, attempt.address, now - GUESSING_WINDOW)
    if guesses.address_wait(now):
        raise slowed_address(guesses.address_wait(now))
    if guesses.wait(now):
        raise _too_many(DomainError, guesses.wait(now))
    return await insert_guess(tx, attempt.account, attempt.address, now)


async def forget_attempts(tx: Transaction, attempt: Attempt) -> None:
    """Forget the wrong passwords and codes of a pair, after a right password or code."""
    await forget_guesses(tx, attempt.account, attempt.address)


def log_failure(site: Site, person: Person | None, address: str, step: Literal["password", "code", "again"]) -> None:
    """Log a failed sign-in. What was typed as an address may be a password, so only a known person is named."""
    who = None if person is None else f"{noun_of(person)}/{person.id}"
    log.warning("sign-in failed", site=site, step=step, person=who, address=address)


def slowed_address(wait: timedelta) -> DomainError:
    """Return the error for an address that has to wait."""
    return _too_many(SlowedAddressError, wait)


def _too_many(kind: type[DomainError], wait: timedelta) -> DomainError:
    seconds = math.ceil(wait.total_seconds())
    message = f"too many wrong passwords: try again in {seconds} second{'' if seconds == 1 else 's'}"
    return kind(Kind.TOO_MANY_REQUESTS, message, retry_after=seconds)
