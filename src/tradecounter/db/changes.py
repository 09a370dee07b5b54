"""Change notices for reference data: writers bump a topic's version, and caches compare versions.

Processes poll all versions in one short query, about once a second (`db/refresher.py`); see docs/adr/0004.
"""

import time
from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from msgspec import Struct
from psycopg.sql import SQL, Composed
from psycopg.sql import Literal as Quoted

from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

Topic = Literal["catalogue", "prices", "contracts", "customers", "deliveries", "shipping", "keys", "blocks", "secrets"]


class Version(Struct, frozen=True):
    """The version of a topic's data.

    Versions of different `server` values cannot be compared: a failover, or a crash without synchronous commit, loses
    the last commits, and later commits reuse their numbers.
    """

    server: str
    number: int


class Versions(Struct, frozen=True):
    """The versions of all topics in one transaction.

    Attributes:
        server: identifies the server until it stops, crashes or is promoted. Transaction ids and version numbers can
            be compared only for the same server.
        read_at: monotonic seconds; the transaction sees the database at that time or later.
        numbers: the version numbers of all topics that have changed since the installation.
    """

    server: str
    read_at: float
    numbers: Mapping[str, int]

    def of(self, topic: Topic) -> Version:
        """Return a topic's version."""
        return Version(self.server, self.numbers.get(topic, 0))


# After a process crash, the server restarts with the same start time but with new statistics.
SERVER_NAME = SQL("""
    concat_ws(
        ' ',
        extract(epoch from pg_postmaster_start_time()),
        extract(epoch from pg_stat_get_bgwriter_stat_reset_time()),
        case when not pg_is_in_recovery() then substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end
    )
""")
_SERVER = Statement(SQL("select {}").format(SERVER_NAME))
_VERSIONS = Statement("select topic, version from change")
_MARK = Statement(
    SQL("""
        select {}, coalesce(sum(version), 0)::bigint from change
        where topic in (select json_array_elements_text(:topics::json))
    """).format(SERVER_NAME)
)

_BUMP = Statement("""
    insert into change (topic, version) values (:topic, 1)
    on conflict (topic) do update set version = change.version + 1
""")


async def bump(tx: Transaction, topic: Topic) -> None:
    """Announce a change of a topic's data to all processes when this transaction commits."""
    await tx.execute(_BUMP, topic=topic)


async def read_versions(tx: Transaction) -> Versions:
    """Return the versions of all topics. Must be the transaction's first call, or `read_at` is wrong."""
    read_at = time.monotonic()
    async with tx.pipeline() as p:
        server, versions = p.fetch(_SERVER), p.fetch(_VERSIONS)
    return Versions(server.row[0], read_at, dict(versions.rows))


def version_in_sql(topics: Iterable[Topic]) -> Composed:
    """Return an expression for the number of some topics' mark; its server is `SERVER_NAME`."""
    names = SQL(", ").join(map(Quoted, topics))
    return SQL("(select coalesce(sum(version), 0)::bigint from change where topic in ({}))").format(names)


async def read_mark(tx: Transaction, topics: Collection[Topic]) -> Version:
    """Return the mark of some topics in the database."""
    async with tx.pipeline() as p:
        result = p.fetch(_MARK, topics=json_of(list(topics)))
    return Version(*result.row)


def mark_of(versions: Mapping[Topic, Version]) -> Version | None:
    """Return the mark of data in memory: its topics' versions, added up; None if they come from several servers.

    It is equal to the database's mark if no topic has changed: versions only grow, so equal sums are equal versions.
    """
    servers = {version.server for version in versions.values()}
    if len(servers) != 1:
        return None
    return Version(servers.pop(), sum(version.number for version in versions.values()))
