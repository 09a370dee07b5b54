"""The state of the database server: the room on its disk, the archive of its log, and its last base backup."""

from datetime import UTC, datetime, timedelta

from msgspec import Struct
from psycopg.errors import DiskFull

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

# Fills a temporary file, which needs space on the disk but changes nothing.
_LESS_MEMORY = Statement("set local work_mem = '64kB'")
_SPILL = Statement("select count(*) from (select n from generate_series(1, 10000) n order by n desc offset 0) spilt")


async def has_room(tx: Transaction) -> bool:
    """Return whether the disk has room for a small temporary file; the transaction has little memory afterwards."""
    try:
        async with tx.savepoint():
            await tx.execute(_LESS_MEMORY)
            await tx.execute(_SPILL)
    except DiskFull:
        return False
    return True


OVERDUE_AFTER = timedelta(hours=36)  # one night was missed


class BaseBackup(Struct, frozen=True):
    """Whether PostgreSQL archives, when its last base backup ended, and how many seconds ago that was.

    If none is recorded, the seconds count from the start of the server. They are 0 if it does not archive.
    """

    wanted: bool
    last: datetime | None
    age_seconds: float


class _RecordedBackup(Struct, frozen=True):
    wanted: bool
    value: str | None
    now: datetime
    started: datetime


# The record is a setting of the database `postgres`, which every database of the server can read.
_RECORDED = Statement(
    """
    select current_setting('archive_mode') <> 'off' as wanted,
           (select split_part(setting, '=', 2)
            from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase, unnest(s.setconfig) setting
            where d.datname = 'postgres' and s.setrole = 0 and starts_with(setting, 'tradecounter.base_backup=')
           ) as value,
           now() as now, pg_postmaster_start_time() as started
    """,
    _RecordedBackup,
)


async def read_base_backup(tx: Transaction) -> BaseBackup:
    """Return what is recorded of this server's base backups; a record that is no time counts as none."""
    row = await tx.fetch_row(_RECORDED)
    if not row.wanted:
        return BaseBackup(wanted=False, last=None, age_seconds=0)
    last = _time(row.value)
    age = row.now - (last or row.started)
    return BaseBackup(wanted=True, last=last, age_seconds=max(age.total_seconds(), 0))


def _time(value: str | None) -> datetime | None:
    # An operator writes it, too. Without a zone it would depend on whose time is meant.
    try:
        moment = datetime.fromisoformat(value or "")
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else None


class WalArchive(Struct, frozen=True):
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
    return await tx.fetch_row(_WAL_ARCHIVE)
