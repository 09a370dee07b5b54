"""The last base backup, which `deploy/backup/back-up` records: without one, an archive restores nothing."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

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


class _Recorded(NamedTuple):
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
    _Recorded,
)


async def read_base_backup(tx: Transaction) -> BaseBackup:
    """Return what is recorded of this server's base backups; a record that is no time counts as none."""
    found = await tx.fetch_one(_RECORDED)
    if found is None or not found.wanted:
        return BaseBackup(wanted=False, last=None, age_seconds=0)
    last = _time(found.value)
    age = found.now - (last or found.started)
    return BaseBackup(wanted=True, last=last, age_seconds=max(age.total_seconds(), 0))


def _time(value: str | None) -> datetime | None:
    # An operator writes it, too. Without a zone it would depend on whose time is meant.
    try:
        found = datetime.fromisoformat(value or "")
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else None
