"""The state of PostgreSQL's archive of WAL files, from which a database is restored to a moment."""

from dataclasses import dataclass
from datetime import datetime

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class WalArchive:
    """Whether PostgreSQL archives, when it last did, and for how many seconds it has failed to; 0 while it works."""

    used: bool
    last_archived: datetime | None
    failing_seconds: float


_WAL_ARCHIVE = Statement(
    """
    select current_setting('archive_mode') <> 'off' as used, last_archived_time as last_archived,
           case when last_failed_time > coalesce(last_archived_time, '-infinity')
                then extract(epoch from now() - coalesce(last_archived_time, stats_reset)) else 0
           end::double precision as failing_seconds
    from pg_stat_archiver
    """,
    WalArchive,
)


async def read_wal_archive(tx: Transaction) -> WalArchive:
    """Return the state of this server's archive; each server of a cluster has its own."""
    return await tx.fetch_one(_WAL_ARCHIVE) or WalArchive(used=False, last_archived=None, failing_seconds=0)
