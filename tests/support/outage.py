"""A database that is away for a while, and comes back."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg

from support.cluster import Cluster


@contextmanager
def database_away(cluster: Cluster, database_url: str) -> Iterator[None]:
    """Break all connections to a database and let nobody in while the block runs."""
    name = urlsplit(database_url).path.removeprefix("/")
    cluster.execute("alter database {} with allow_connections false", name)
    try:
        with psycopg.connect(cluster.url, autocommit=True) as connection:
            connection.execute(
                "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = %s", [name]
            )
        yield
    finally:
        cluster.execute("alter database {} with allow_connections true", name)
