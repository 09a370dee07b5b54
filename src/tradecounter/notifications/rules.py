"""The rules of sending e-mails: when to retry, and how to combine quotes into one e-mail."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import Enum, auto

FIRST_WAIT = timedelta(seconds=10)
LONGEST_WAIT = timedelta(hours=1)

GATHERED_FOR = timedelta(minutes=1)  # after an e-mail to support; the customer's next quotes go out together
MOST_QUOTES = 50  # in one e-mail


class FailureKind(Enum):
    """Why an e-mail could not be sent."""

    TRANSIENT = auto()  # the mail server or the database is unreachable or busy
    REJECTED = auto()  # the mail server permanently rejects this e-mail
    UNEXPECTED = auto()  # probably a bug
    POINTLESS = auto()  # the subject does not exist, or no recipient is valid


_MOST_RETRIES = {FailureKind.REJECTED: 4, FailureKind.UNEXPECTED: 10, FailureKind.POINTLESS: 0}


def next_attempt(kind: FailureKind, retries: int) -> timedelta | None:
    """Return the wait before the next attempt, after `retries` retries; None: do not retry.

    The wait doubles up to an hour. Transient failures are retried forever.
    """
    if retries >= _MOST_RETRIES.get(kind, retries + 1):
        return None
    doublings = min(retries, 20)  # already longer than the longest wait
    return min(FIRST_WAIT * (1 << doublings), LONGEST_WAIT)


def quotes_to_tell(untold: Sequence[int], about: int) -> list[int]:
    """Return the quotes for one e-mail: the oldest quotes, and always the job's own quote."""
    others = [quote for quote in untold if quote != about]
    return sorted([about, *others[: MOST_QUOTES - 1]])


def gathering_left(untold: int, last_told: datetime | None, now: datetime) -> timedelta:
    """Return how long to gather quotes before the next e-mail; zero when it is full."""
    if last_told is None or untold >= MOST_QUOTES:
        return timedelta(0)
    return max(last_told + GATHERED_FOR - now, timedelta(0))
