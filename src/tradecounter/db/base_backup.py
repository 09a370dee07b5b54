"""The last base backup, which `deploy/backup/back-up` records: without one, an archive restores nothing."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

OVERDUE_AFTER = timedelta(hours=36)  # one night was missed


@dataclass(frozen=True, slots=True)
class BaseBackup:
    """Whether PostgreSQL archives, when its last base backup ended, and how many seconds ago that was.

    If none is recorded, the seconds count from the start of the server. They are 0 if it does not archive.
    """

    wanted: bool
    last: datetime | None
    age_seconds: float


# The record is a setting of the database `postgres`, which every database of the server can read.
_BASE_BACKUP = Statement(
    """
    with recorded as (
        select max(split_part(setting, '=', 2)::timestamptz) as last
        from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase, unnest(s.setconfig) setting
        where d.datname = 'postgres' and s.setrole = 0 and starts_with(setting, 'tradecounter.base_backup=')
    )
    select current_setting('archive_mode') <> 'off' as wanted, last,
           case when current_setting('archive_mode') = 'off' then 0
                else greatest(extract(epoch from now() - coalesce(last, pg_postmaster_start_time())), 0)
           end::double precision as age_seconds
    from recorded
    """,
    BaseBackup,
)


async def read_base_backup(tx: Transaction) -> BaseBackup:
    """Return what is recorded of this server's base backups."""
    return await tx.fetch_one(_BASE_BACKUP) or BaseBackup(wanted=False, last=None, age_seconds=0)
