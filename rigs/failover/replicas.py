"""Checks that the replicas have the rows that the primary has: a replica that followed a lost primary may differ."""

import time
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import sql

from rigs.failover.cluster import Cluster

CATCH_UP_SECONDS = 60
# Replicas have no tables that are not logged.
_TABLES = (
    "select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace"
    " where c.relkind = 'r' and c.relpersistence = 'p' and n.nspname not in ('pg_catalog', 'information_schema')"
)
_DIGEST = "select count(*), md5(coalesce(string_agg(t::text, e'\\n' order by t::text), '')) from {} as t"

Table = tuple[str, str]


def faults_in_replicas(cluster: Cluster) -> dict[str, Any]:
    """Tables of which a replica never had the rows that the primary had at about the same time."""
    primary = cluster.primary()
    if primary is None:
        return {"replicas: there is no primary": True}
    url = cluster.url_of(primary)
    with psycopg.connect(url, autocommit=True) as connection:
        tables: list[Table] = connection.execute(_TABLES).fetchall()
    found = {machine.name: differing(url, cluster.url_of(machine), tables) for machine in cluster.replicas()}
    return {f"replica {name}: differs from the primary": tables for name, tables in found.items() if tables}


def differing(primary: str, replica: str, tables: Sequence[Table], seconds: float = CATCH_UP_SECONDS) -> list[Table]:
    """Compare until each table was once the same, since programs go on writing."""
    deadline, left = time.monotonic() + seconds, list(tables)
    with psycopg.connect(primary, autocommit=True) as one, psycopg.connect(replica, autocommit=True) as other:
        while left:
            left = [table for table in left if _digest(one, table) != _digest(other, table)]
            if time.monotonic() > deadline:
                break
            time.sleep(0.5)
    return left


def _digest(connection: psycopg.Connection[Any], table: Table) -> tuple[int, str] | None:
    return connection.execute(sql.SQL(_DIGEST).format(sql.Identifier(*table))).fetchone()
