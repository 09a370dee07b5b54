"""When a mail that could not be sent is tried again."""

from datetime import timedelta
from enum import Enum, auto

FIRST_WAIT = timedelta(seconds=10)
LONGEST_WAIT = timedelta(hours=1)


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
