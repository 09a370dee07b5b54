"""All that a database holds, to check that a rejected request changes nothing."""

from functools import cache

import psycopg
from psycopg.sql import SQL, Identifier, Literal

# What every request may change: when a credential or a session was used, and the failures of an address.
_OF_EVERY_REQUEST = {
    "api_key", "access_token", "blocked_address", "change", "known_browser", "service_token", "session",
    "procrastinate_workers",
}  # fmt: skip

Stored = dict[str, tuple[int, int]]


def stored(database_url: str) -> Stored:
    """How many rows each table has, and a digest of them."""
    with psycopg.connect(database_url, autocommit=True) as database:
        found = database.execute(_query(database_url)).fetchall()
    return {name: (count, int(digest or 0)) for name, count, digest in found}


@cache
def _query(database_url: str) -> bytes:
    with psycopg.connect(database_url, autocommit=True) as database:
        names = database.execute(
            "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')"
            " and not relispartition order by 1"
        ).fetchall()
        part = SQL("select {}, count(*), sum(hashtextextended(row::text, 0)) from {} row")
        parts = [part.format(Literal(name), Identifier(name)) for (name,) in names if name not in _OF_EVERY_REQUEST]
        return SQL(" union all ").join(parts).as_bytes(database)
