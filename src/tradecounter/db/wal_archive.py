"""The state of PostgreSQL's archive of WAL files, from which a database is restored to a moment."""

from dataclasses import dataclass
from datetime import datetime

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class WalArchive:
    """Whether PostgreSQL archives, when it last did, and for how many seconds it has not; 0 while it works.

    It does not work if the last attempt failed, if nothing is set to archive, or if two complete files wait because
    that hangs.
    """

    used: bool
    last_archived: datetime | None
    failing_seconds: float


# A replica does not archive. The name of a WAL file is its timeline, the upper half of the position at which it begins,
# and its number within 4 GiB. The names of other files are shorter or longer.
_WAL_ARCHIVE = Statement(
    """
    with archiver as (
        select *, current_setting('archive_mode') <> 'off' as used,
               case when not pg_is_in_recovery() and last_archived_wal ~ '^[0-9A-F]{24}$'
                    then floor((pg_current_wal_lsn() - pg_lsn '0/0') / file_bytes)
                       - ('x' || substr(last_archived_wal, 9, 8))::bit(32)::bigint * (4294967296 / file_bytes)
                       - ('x' || substr(last_archived_wal, 17, 8))::bit(32)::bigint - 1
               end as waiting,
               current_setting('archive_command') = '' and current_setting('archive_library') = '' as empty
        from pg_stat_archiver, pg_size_bytes(current_setting('wal_segment_size')) as file_bytes
    )
    select used, last_archived_time as last_archived,
           case when used and (last_failed_time > coalesce(last_archived_time, '-infinity') or waiting >= 2 or empty)
                then extract(
                    epoch from now() - coalesce(last_archived_time, stats_reset, pg_postmaster_start_time())
                )
                else 0
           end::double precision as failing_seconds
    from archiver
    """,
    WalArchive,
)


async def read_wal_archive(tx: Transaction) -> WalArchive:
    """Return the state of this server's archive; each server of a cluster has its own."""
    return await tx.fetch_one(_WAL_ARCHIVE) or WalArchive(used=False, last_archived=None, failing_seconds=0)
