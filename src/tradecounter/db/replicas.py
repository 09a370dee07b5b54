"""Whether a replica has what the primary has committed (docs/adr/0025).

A replica of the primary's installation and timeline has replayed a part of the primary's log, and nothing else. Version
numbers only grow along a log, so the replica's data is not older than a version if its number is not smaller. A replica
that still follows a former primary has another timeline: its numbers mean nothing.
"""

from msgspec import Struct

from tradecounter.db.changes import Topic, Versions, read_versions
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class ReplicaError(Exception):
    """The replica cannot be used; the message has the reason."""


class ReplicaBehindError(ReplicaError):
    """The replica follows the primary, but has not replayed the version yet."""


class Log(Struct, frozen=True):
    """The log that a server writes or replays: its installation and its timeline.

    A replica knows the timeline from its last restart point, at most some minutes old: after a fail-over, it says for
    a while the former one.
    """

    installation: str
    timeline: int
    replayed: bool


_LOG = Statement(
    """
    select system_identifier::text as installation, pg_is_in_recovery() as replayed, case
        when pg_is_in_recovery() then (select min_recovery_end_timeline from pg_control_recovery())
        else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int
    end as timeline
    from pg_control_system()
    """,
    Log,
)


# What is written but not flushed yet is not sent to replicas.
_END_OF_LOG = Statement("select pg_current_wal_flush_lsn()::text")


class Lag(Struct, frozen=True):
    """How many bytes a replica has not replayed of the log up to a position, and whether its replay is paused."""

    missing: int
    paused: bool


_LAG = Statement(
    """
    select greatest(pg_wal_lsn_diff(:end_of_log::pg_lsn, pg_last_wal_replay_lsn()), 0)::bigint as missing,
           pg_is_wal_replay_paused() as paused
    """,
    Lag,
)


class Position(Struct, frozen=True):
    """What a replica must have: the primary's log up to these versions."""

    log: Log
    versions: Versions


async def read_position(tx: Transaction) -> Position:
    """Return where a server is. Must be the transaction's first call."""
    versions = await read_versions(tx)
    return Position(await tx.fetch_row(_LOG), versions)


async def require_replayed(replica: Transaction, primary: Position, topic: Topic) -> None:
    """Raise ReplicaError if the replica's transaction sees older data of the topic than the primary's position.

    Must be the transaction's first call.
    """
    position = await _position_on_the_same_log(replica, primary)
    has, wanted = position.versions.of(topic).number, primary.versions.of(topic).number
    if has < wanted:
        raise ReplicaBehindError(f"it has version {has} of the {topic}, and the primary has {wanted}")


async def read_end_of_log(primary: Transaction, position: Position) -> str:
    """Return up to where the primary's log is on its disk. Raises ReplicaError if it replays another one's log."""
    if position.log.replayed:
        raise ReplicaError("the database itself is a replica")
    end: str = await primary.fetch_value(_END_OF_LOG)
    return end


async def read_lag(replica: Transaction, primary: Position, end_of_log: str) -> Lag:
    """Return what a replica has not replayed yet. Raises ReplicaError for a server that is not the primary's replica.

    Must be the transaction's first call.
    """
    position = await _position_on_the_same_log(replica, primary)
    if not position.log.replayed:
        raise ReplicaError("it is the primary itself")
    return await replica.fetch_row(_LAG, end_of_log=end_of_log)


async def _position_on_the_same_log(replica: Transaction, primary: Position) -> Position:
    position = await read_position(replica)
    if position.log.installation != primary.log.installation:
        raise ReplicaError("it is not a replica of the database")
    if not position.log.replayed and position.versions.server != primary.versions.server:
        raise ReplicaError("it is not a replica, but another primary")
    if position.log.timeline != primary.log.timeline:
        raise ReplicaError(f"it is on timeline {position.log.timeline}, and the primary on {primary.log.timeline}")
    return position
