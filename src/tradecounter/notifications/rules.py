"""When a mail that could not be sent is tried again, and how long quotes are gathered for one mail."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import Enum, auto

FIRST_WAIT = timedelta(seconds=10)
LONGEST_WAIT = timedelta(hours=1)

GATHERED_FOR = timedelta(minutes=1)  # after a mail that asks for prices, the customer's next quotes are gathered
MOST_QUOTES = 50  # in one mail


class Trouble(Enum):
    """Why a mail could not be sent."""

    PASSING = auto()  # the mail server or the database is away or busy
    REFUSED = auto()  # the mail server will not have this mail, for good
    UNEXPECTED = auto()  # nobody thought of it
    HOPELESS = auto()  # there is nothing to tell, or nobody to tell it to


_MOST_RETRIES = {Trouble.REFUSED: 4, Trouble.UNEXPECTED: 10, Trouble.HOPELESS: 0}


def next_attempt(trouble: Trouble, retries: int) -> timedelta | None:
    """Return how long to wait after a failure that `retries` retries came before; None: give up.

    The wait doubles up to an hour. Passing trouble is never given up on.
    """
    if retries >= _MOST_RETRIES.get(trouble, retries + 1):
        return None
    doublings = min(retries, 20)  # far beyond the longest wait
    return min(FIRST_WAIT * (1 << doublings), LONGEST_WAIT)


def quotes_to_tell(untold: Sequence[int], about: int) -> list[int]:
    """Return the quotes of one mail: the oldest, and by all means the one that the mail's job is about."""
    others = [quote for quote in untold if quote != about]
    return sorted([about, *others[: MOST_QUOTES - 1]])


def gathering_left(untold: int, last_told: datetime | None, now: datetime) -> timedelta:
    """Return for how long to gather more quotes before the next mail: not at all when it is full already."""
    if last_told is None or untold >= MOST_QUOTES:
        return timedelta(0)
    return max(last_told + GATHERED_FOR - now, timedelta(0))
