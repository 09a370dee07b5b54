"""Noticing that reference data changed: whoever writes it bumps a topic's version, whoever caches it compares.

Processes poll all versions in one short query, about once a second (`db/refresher.py`); see docs/adr/0004.
"""

from collections.abc import Mapping
from typing import Literal

from tradecounter.db.rows import execute, fetch_tuples
from tradecounter.db.transaction import Transaction

Topic = Literal["catalogue", "prices", "contracts", "customers", "deliveries", "shipping", "keys", "blocks"]
Versions = Mapping[str, int]


async def bump(tx: Transaction, topic: Topic) -> None:
    """Tell every process, once this transaction commits, that a kind of data changed."""
    await execute(
        tx,
        """
        insert into change (topic, version) values (%s, 1)
        on conflict (topic) do update set version = change.version + 1
        """,
        [topic],
    )


async def read_versions(tx: Transaction) -> Versions:
    """Return the version of every topic that ever changed."""
    return dict(await fetch_tuples(tx, "select topic, version from change"))
