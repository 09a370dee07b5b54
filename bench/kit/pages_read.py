"""How many pages of tables and indexes PostgreSQL reads for a request, from its own statistics.

Unlike times, these figures are the same on a busy machine. What other connections to the database do meanwhile
counts too.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import psycopg

from bench.kit.store import Store

_FLUSHED_SECONDS = 11.0  # an idle connection reports its statistics after ten seconds
_READ = "select blks_hit + blks_read from pg_stat_database where datname = current_database()"


class PageCounter:
    """Counts the pages read in some databases, beginning with its creation."""

    def __init__(self, stores: Sequence[Store]) -> None:
        self._stores = stores
        self._before = self._flushed()

    def read_for(self, works: Sequence[Callable[[], int]]) -> list[float]:
        """Do each store's work, which returns the number of its requests; return the pages that one of them reads."""
        counts = [work() for work in works]
        before, self._before = self._before, self._flushed()
        return [(after - first) / done for first, after, done in zip(before, self._before, counts, strict=True)]

    def _flushed(self) -> list[int]:
        time.sleep(_FLUSHED_SECONDS)
        return [_pages(store) for store in self._stores]


def _pages(store: Store) -> int:
    with store.connect() as connection:
        return int(_row(connection)[0])


def _row(connection: psycopg.Connection[Any]) -> tuple[Any, ...]:
    row: tuple[Any, ...] | None = connection.execute(_READ.encode()).fetchone()
    return row or (0,)
