"""Counts wrong passwords and codes, and slows down those who guess (reseller's side, section 9)."""

import math
from dataclasses import dataclass
from datetime import datetime

from tradecounter.access.people import Site
from tradecounter.access.queries.guesses import forget_guesses, guesses_since, insert_guess, lock_guesses
from tradecounter.access.rules import GUESSING_WINDOW, LONGEST_EMAIL
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.text import fold


@dataclass(frozen=True, slots=True)
class Attempt:
    """A pair of account and network address, whose wrong passwords and codes are counted together."""

    account: str
    address: str

    @classmethod
    def at(cls, site: Site, email: str, address: str) -> "Attempt":
        """Return the pair for an e-mail address that was typed at a site, shortened to what fits an index."""
        return cls(f"{site} {fold(email[:LONGEST_EMAIL])[:LONGEST_EMAIL]}", address)


async def count_attempt(tx: Transaction, attempt: Attempt, now: datetime) -> int:
    """Count an attempt as wrong before it is checked, so that simultaneous ones count too; return its id.

    Raises DomainError (too many requests), also for a right password.
    """
    await lock_guesses(tx, attempt.address)
    guesses = await guesses_since(tx, attempt.account, attempt.address, now - GUESSING_WINDOW)
    if wait := math.ceil(guesses.wait(now).total_seconds()):
        message = f"too many wrong passwords: try again in {wait} second{'' if wait == 1 else 's'}"
        raise DomainError(Kind.TOO_MANY_REQUESTS, message, retry_after=wait)
    return await insert_guess(tx, attempt.account, attempt.address, now)


async def forget_attempts(tx: Transaction, attempt: Attempt) -> None:
    """Forget the wrong passwords and codes of a pair, after a right password or code."""
    await forget_guesses(tx, attempt.account, attempt.address)
