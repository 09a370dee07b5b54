"""How much of customers' requests is kept."""

from datetime import timedelta

KEPT_FOR = timedelta(days=7)
FIRST_ERROR = 400
MOST_ERRORS = 100  # of a key within a minute, in each process; further ones are counted like reads
MOST_WRITES = 1_000
MOST_WAITING = 20_000  # entries in a process, of each kind, that the database has not taken yet
MANY_COUNTS = 100  # of reads; more wait for `MANY_WAIT`, since storing thousands each second costs more than counting
MANY_WAIT = timedelta(seconds=10)
READS = frozenset({"GET", "HEAD"})
LONGEST_PATH = 500
