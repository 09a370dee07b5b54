"""The rules of sending e-mails: when to retry, and how to combine quotes into one e-mail."""

from collections.abc import Sequence
from datetime import datetime, timedelta

FIRST_WAIT = timedelta(seconds=10)
LONGEST_WAIT = timedelta(hours=1)

GATHERED_FOR = timedelta(minutes=1)  # after an e-mail to support; the customer's next quotes go out together
MOST_QUOTES = 50  # in one e-mail


def next_attempt(retries: int, most: float) -> timedelta | None:
    """Return the wait before the next attempt, after `retries` retries; None after the last of `most` retries.

    The wait doubles up to an hour.
    """
    if retries >= most:
        return None
    doublings = min(retries, 20)  # already longer than the longest wait
    return min(FIRST_WAIT * (1 << doublings), LONGEST_WAIT)


def quotes_to_tell(untold: Sequence[int], about: int) -> list[int]:
    """Return the quotes for one e-mail: the oldest quotes, and always the job's own quote."""
    others = [quote for quote in untold if quote != about]
    return sorted([about, *others[: MOST_QUOTES - 1]])


def gathering_left(untold: int, last_told: datetime | None, now: datetime) -> timedelta:
    """Return how long to gather quotes before the next e-mail; zero when it is full."""
    if last_told is None or untold >= MOST_QUOTES or abs(now - last_told) >= GATHERED_FOR:  # or the clock was set back
        return timedelta(0)
    return last_told + GATHERED_FOR - now
