"""When a failed mail is retried, and how quotes are gathered into one mail."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import Enum, auto

FIRST_WAIT = timedelta(seconds=10)
LONGEST_WAIT = timedelta(hours=1)

GATHERED_FOR = timedelta(minutes=1)  # after a mail to support, the customer's next quotes wait for one another
MOST_QUOTES = 50  # in one mail


class FailureKind(Enum):
    """Why a mail could not be sent."""

    TRANSIENT = auto()  # the mail server or the database is unreachable or busy
    REJECTED = auto()  # the mail server permanently rejects this mail
    UNEXPECTED = auto()  # probably a bug
    POINTLESS = auto()  # there is no subject or no recipient


_MOST_RETRIES = {FailureKind.REJECTED: 4, FailureKind.UNEXPECTED: 10, FailureKind.POINTLESS: 0}


def next_attempt(kind: FailureKind, retries: int) -> timedelta | None:
    """Return how long to wait before the next attempt, after `retries` retries; None gives up.

    The wait doubles up to an hour. Transient failures are retried for ever.
    """
    if retries >= _MOST_RETRIES.get(kind, retries + 1):
        return None
    doublings = min(retries, 20)  # already beyond the longest wait
    return min(FIRST_WAIT * (1 << doublings), LONGEST_WAIT)


def quotes_to_tell(untold: Sequence[int], about: int) -> list[int]:
    """Return the quotes for one mail: the oldest, and always the one of the mail's own job."""
    others = [quote for quote in untold if quote != about]
    return sorted([about, *others[: MOST_QUOTES - 1]])


def gathering_left(untold: int, last_told: datetime | None, now: datetime) -> timedelta:
    """Return how long to gather quotes before the next mail: zero when it is full."""
    if last_told is None or untold >= MOST_QUOTES:
        return timedelta(0)
    return max(last_told + GATHERED_FOR - now, timedelta(0))
