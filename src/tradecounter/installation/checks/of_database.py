"""Checks of the database: clock, jobs, tables, document numbers, archive and backup, keys, disk, read replica."""

import asyncio
import time
from collections.abc import Sequence
from datetime import timedelta

from tradecounter.consent.issuer import LostKeyError, issuer_vault, key_that_signs
from tradecounter.db.installation import is_demo, server_time
from tradecounter.db.invariants import (
    MOST_FOUND,
    MissingNumbers,
    missing_credit_notes,
    missing_invoices,
    wrong_credit,
    wrong_stock,
)
from tradecounter.db.jobs import SILENT_SECONDS, failed_jobs, waiting_jobs, workers_heard_of
from tradecounter.db.pool import Database
from tradecounter.db.replicas import Lag, read_end_of_log, read_lag, read_position
from tradecounter.db.schema_state import SchemaState
from tradecounter.db.server_state import OVERDUE_AFTER, has_room, read_base_backup, read_wal_archive
from tradecounter.db.transaction import Transaction, reading
from tradecounter.db.writability import REMEDY
from tradecounter.edge.command_line.output import one_line
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.identity.queries.secret_keys import fingerprint, registered_keys
from tradecounter.identity.vault import problem_of
from tradecounter.installation.checks.check import Check, fine, wrong
from tradecounter.kit.clock import Clock
from tradecounter.settings import Settings, SettingsError
from tradecounter.storefront.catalogue_data import UNUSABLE, try_to_connect

LARGEST_SKEW = timedelta(seconds=2)
LONGEST_WAIT = timedelta(minutes=5)

_CHANGED_BY_HAND = "the tables were changed outside the program: make a backup, stop all services and correct"
_MAKE_A_BACKUP = "on the primary: `systemctl start postgresql-backup`, and `journalctl --unit postgresql-backup`"


def check_schema(state: SchemaState) -> Check:
    """Check that this version works with the schema."""
    if state.usable:
        which = "the newest" if state.current else f"newer than this version's {state.newest}, which works with it"
        return fine("schema", f"revision {state.revision}, {which}")
    if state.newer:
        finding = f"revision {state.revision}, too new for this version, which needs {state.newest}"
        return wrong("schema", finding, "install the newer version again")
    finding = f"revision {state.revision or '(none)'}, this version needs {state.newest}"
    return wrong("schema", finding, "run `tradecounter db upgrade`")


async def check_contents(tx: Transaction, clock: Clock) -> list[Check]:
    """Run all checks on a database with a current schema."""
    return [
        await _clock(tx, clock),
        await _worker(tx),
        await _queue(tx),
        await _failed_jobs(tx),
        await _credit(tx),
        await _stock(tx),
        _numbers("invoice_numbers", "invoices", await missing_invoices(tx)),
        _numbers("credit_note_numbers", "credit notes", await missing_credit_notes(tx)),
        await _wal_archive(tx),
        await _base_backup(tx),
    ]


async def check_disk(tx: Transaction) -> Check:
    """Check that the database can write."""
    if await has_room(tx):
        return fine("disk", "the database's disk has room")
    return wrong("disk", "the database's disk is full: reads work, and changes get 503", REMEDY)


async def check_issuer_keys(tx: Transaction, settings: Settings) -> Check:
    """Check that the key that signs consent can be used."""
    if settings.auth_url is not None:
        return fine("issuer_keys", "not needed: TRADECOUNTER_AUTH_URL names another issuer")
    try:
        key = await key_that_signs(tx, issuer_vault(lambda: secret_keys(settings)))
    except (LostKeyError, SettingsError) as error:
        return wrong("issuer_keys", str(error), "restore TRADECOUNTER_SECRET_KEY, or run `tradecounter issuer rotate`")
    return fine("issuer_keys", "made when first needed" if key is None else f"consent is signed with {key.kid}")


async def check_secret_key(tx: Transaction, settings: Settings) -> Check:
    """Check that this command's keys are those of the database; `check_ready` looks at those of the services."""
    registered = await registered_keys(tx)
    remedy = "set the keys that the services have; the operators' guide says how a key is replaced"
    try:
        keys = secret_keys(settings)
    except SettingsError as error:
        return wrong("secret_key", str(error), remedy)
    if not registered:
        return fine("secret_key", "the first service that starts registers it")
    if fingerprint(keys[0]) not in registered and registered.keys() <= set(map(fingerprint, keys)):
        return fine("secret_key", "no service encrypts with it yet; the keys of the services are known")
    if (problem := problem_of(registered, keys)) is not None:
        return wrong("secret_key", problem, remedy)
    if len(registered) > 1:
        return fine("secret_key", f"{len(registered)} keys are in use: `secret rotate` ends the former ones")
    return fine("secret_key", "it is the one key in use")


async def _clock(tx: Transaction, clock: Clock) -> Check:
    before = clock.now()
    server = await server_time(tx)
    after = clock.now()
    skew = max(before - server, server - after, timedelta())
    finding = f"{skew.total_seconds():.1f} seconds from the database's"
    if skew <= LARGEST_SKEW:
        return fine("clock", finding)
    return wrong("clock", finding, "synchronise this machine's and the database's clocks with NTP")


async def _worker(tx: Transaction) -> Check:
    workers = await workers_heard_of(tx, SILENT_SECONDS)
    if workers.alive:
        return fine("worker", f"{workers.alive} alive")
    last = "" if workers.last_heartbeat is None else f" since {workers.last_heartbeat:%Y-%m-%d %H:%M:%S} UTC"
    return wrong("worker", f"no heartbeat{last}", "start `tradecounter worker`, which sends the e-mails")


async def _queue(tx: Transaction) -> Check:
    waiting = await waiting_jobs(tx)
    later = f"; {waiting.later} scheduled for later" if waiting.later else ""
    if waiting.oldest is None:
        return fine("queue", f"no job is due{later}")
    finding = f"{waiting.due} due, the oldest for {_rounded(waiting.oldest)}{later}"
    if waiting.oldest <= LONGEST_WAIT:
        return fine("queue", finding)
    return wrong("queue", finding, "check that the worker is running, read its log, or start another one")


def _rounded(wait: timedelta) -> timedelta:
    return timedelta(seconds=round(max(wait, timedelta()).total_seconds()))


async def _failed_jobs(tx: Transaction) -> Check:
    failed = await failed_jobs(tx)
    if not failed:
        return fine("failed_jobs", "none")
    finding = ", ".join(f"{job.count} of {job.task_name}" for job in failed)
    if await is_demo(tx):
        return fine("failed_jobs", f"{finding}; the demo's history has one")
    return wrong(
        "failed_jobs", finding, "read the worker's log for the cause; `tradecounter job retry ID` queues a job again"
    )


async def _credit(tx: Transaction) -> Check:
    differences = [f"customer {c.customer_id} {c.charged} instead of {c.unpaid}" for c in await wrong_credit(tx)]
    if not differences:
        return fine("credit", "all outstanding amounts match the orders")
    return wrong("credit", f"outstanding: {_listed(differences)}", f"{_CHANGED_BY_HAND} credit_exposure.outstanding")


async def _stock(tx: Transaction) -> Check:
    differences = [
        f"{one_line(s.sku)}: {s.available} available, {s.allocated} allocated ({s.on_lines_allocated} on orders), "
        f"{s.back_ordered} back-ordered ({s.on_lines_back_ordered} on orders)"
        for s in await wrong_stock(tx)
    ]
    if not differences:
        return fine("stock", "all levels match the order lines, and no level is negative")
    return wrong("stock", _listed(differences), f"{_CHANGED_BY_HAND} stock_level")


def _numbers(name: str, documents: str, gaps: Sequence[MissingNumbers]) -> Check:
    missing = [str(gap.first) if gap.first == gap.last else f"{gap.first} to {gap.last}" for gap in gaps]
    if not missing:
        return fine(name, "the numbers have no gaps")
    remedy = f"find the missing {documents} in a backup: auditors ask for every number"
    return wrong(name, f"missing: {_listed(missing)}", remedy)


async def _wal_archive(tx: Transaction) -> Check:
    archive = await read_wal_archive(tx)
    if not archive.used:
        return fine("wal_archive", "not used: PostgreSQL's archive_mode is off")
    last = "" if archive.last_archived is None else f", the last at {archive.last_archived:%Y-%m-%d %H:%M:%S} UTC"
    if archive.failing_seconds:
        remedy = "read PostgreSQL's log for what archive_command reports; until it works, WAL files fill the disk"
        return wrong("wal_archive", f"WAL files are not archived{last}", remedy)
    finding = f"WAL files are archived{last}" if last else "nothing was archived since the statistics began"
    return fine("wal_archive", finding)


async def _base_backup(tx: Transaction) -> Check:
    backup = await read_base_backup(tx)
    if not backup.wanted:
        return fine("base_backup", "no backups: PostgreSQL's archive_mode is off, so this program knows of none")
    if backup.last is None:
        return wrong("base_backup", "none is recorded: without one, the archive restores nothing", _MAKE_A_BACKUP)
    finding = f"the last one ended at {backup.last:%Y-%m-%d %H:%M:%S} UTC"
    if timedelta(seconds=backup.age_seconds) > OVERDUE_AFTER:
        return wrong("base_backup", finding, _MAKE_A_BACKUP)
    return fine("base_backup", finding)


def _listed(findings: list[str]) -> str:
    return "; ".join(findings) + (", and possibly more" if len(findings) == MOST_FOUND else "")


_REPLICA_SECONDS = 10.0
_CATCH_UP_SECONDS = 3.0  # for a replica under load
_LOOK_EVERY_SECONDS = 0.1
_REPAIR_THE_REPLICA = (
    "correct TRADECOUNTER_REPLICA_URL, or repair the replica; after a fail-over, it names its new timeline only after "
    "some minutes. Catalogues are read from the primary until then"
)


async def check_replica(settings: Settings, url: str) -> Check:
    """Check that the replica follows the database at `url`: same log, read-only, and nothing missing for long."""
    if settings.replica_url is None:
        return fine("replica", "not used: TRADECOUNTER_REPLICA_URL is not set")
    try:
        async with asyncio.timeout(_REPLICA_SECONDS):
            lag, timeline = await _lag(settings.replica_url, url)
    except TimeoutError:
        return wrong("replica", f"no response within {_REPLICA_SECONDS:.0f} seconds", _REPAIR_THE_REPLICA)
    except UNUSABLE as error:
        return wrong("replica", one_line(str(error)), _REPAIR_THE_REPLICA)
    if lag.missing:
        finding = f"{lag.missing} bytes of the log are not replayed after {_CATCH_UP_SECONDS:.0f} seconds"
        return wrong("replica", f"{finding}{'; its replay is paused' if lag.paused else ''}", _REPAIR_THE_REPLICA)
    return fine("replica", f"it is read-only, on the primary's timeline {timeline}, and has the primary's whole log")


async def _lag(replica_url: str, url: str) -> tuple[Lag, int]:
    """Return what the replica does not catch up with of the log as it is now, and the log's timeline."""
    async with Database(url, connections=1) as primary, reading(primary) as tx:
        position = await read_position(tx)
        end_of_log = await read_end_of_log(tx, position)
    await try_to_connect(replica_url)
    async with Database(replica_url, connections=1) as replica:
        until = time.monotonic() + _CATCH_UP_SECONDS
        while True:
            async with reading(replica) as tx:
                lag = await read_lag(tx, position, end_of_log)
            if not lag.missing or time.monotonic() >= until:
                return lag, position.log.timeline
            await asyncio.sleep(_LOOK_EVERY_SECONDS)
