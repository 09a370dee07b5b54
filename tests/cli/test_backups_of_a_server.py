"""A server that archives its WAL: `doctor` watches the archive, and only as many backups are kept as wanted."""

import asyncio
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from support.backups import BackedUpServer, backed_up_server
from support.command_line import SECRET, Forker, Program
from support.waiting import wait_for
from tradecounter.db.jobs import SILENT_SECONDS
from tradecounter.db.migrate import upgrade
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.jobs.watch import Backlog

pytestmark = pytest.mark.long


@pytest.fixture
def backed_up(tmp_path: Path) -> Iterator[BackedUpServer]:
    with backed_up_server(tmp_path / "server") as found:
        upgrade(found.server.url())
        yield found


@pytest.fixture
def program(backed_up: BackedUpServer, tmp_path: Path, forker: Forker) -> Program:
    return Program(tmp_path, backed_up.server.url(), forker, {"TRADECOUNTER_SECRET_KEY": SECRET})


def check(program: Program, name: str = "wal_archive") -> dict[str, Any]:
    checks = program.run("doctor", "--json").document["checks"]
    found: dict[str, Any] = next(check for check in checks if check["name"] == name)
    return found


def complete_a_file(backed_up: BackedUpServer) -> None:
    backed_up.query("select pg_logical_emit_message(false, 'test', 'written'), pg_switch_wal()")


def test_an_archive_that_fails_is_found_until_it_works_again(backed_up: BackedUpServer, program: Program) -> None:
    backed_up.wait_for_archive()
    wait_for(lambda: check(program)["message"].startswith("WAL files are archived, the last at "))
    folder, away = backed_up.folder / "wal", backed_up.folder / "away"
    shutil.move(folder, away)
    complete_a_file(backed_up)
    wait_for(lambda: check(program)["message"].startswith("WAL files are not archived, the last at "))
    assert check(program)["remedy"].startswith("read PostgreSQL's log")
    shutil.move(away, folder)
    wait_for(lambda: check(program)["ok"])


def set_archive_command(backed_up: BackedUpServer, command: str) -> None:
    backed_up.query(f"alter system set archive_command = '{command}'")
    backed_up.query("select pg_reload_conf()")
    wait_for(lambda: backed_up.query("show archive_command") == [(command,)])


def test_an_empty_archive_command_is_found_at_once(backed_up: BackedUpServer, program: Program) -> None:
    backed_up.wait_for_archive()
    wait_for(lambda: check(program)["ok"])
    set_archive_command(backed_up, "")
    assert check(program)["message"].startswith("WAL files are not archived, the last at ")


def test_an_archive_command_that_hangs_is_found_when_two_files_wait(
    backed_up: BackedUpServer, program: Program
) -> None:
    backed_up.wait_for_archive()
    set_archive_command(backed_up, "sleep 8")
    wait_for(lambda: check(program)["ok"])
    complete_a_file(backed_up)
    assert check(program)["ok"]
    complete_a_file(backed_up)
    wait_for(lambda: check(program)["message"].startswith("WAL files are not archived, the last at "), seconds=5)


def recorded(backed_up: BackedUpServer, value: str) -> None:
    backed_up.query(f"alter database postgres set tradecounter.base_backup = '{value}'")


def test_a_base_backup_that_is_missing_or_36_hours_old_is_found(backed_up: BackedUpServer, program: Program) -> None:
    missing = check(program, "base_backup")
    assert (missing["ok"], missing["message"][:16]) == (False, "none is recorded")
    made = datetime.strptime(backed_up.back_up().name, "%Y%m%dT%H%M%SZ")  # noqa: DTZ007 the name is in UTC
    found = check(program, "base_backup")
    assert (found["ok"], found["message"]) == (True, f"the last one ended at {made} UTC")
    for hours, enough in ((35, True), (37, False)):
        moment = datetime.now(UTC) - timedelta(hours=hours)
        recorded(backed_up, moment.isoformat(timespec="seconds"))
        assert check(program, "base_backup")["ok"] == enough
    assert check(program, "base_backup")["remedy"].startswith("on the primary: `systemctl start postgresql-backup`")


def test_a_record_that_is_no_time_with_a_zone_counts_as_none(backed_up: BackedUpServer, program: Program) -> None:
    for value in ("yesterday", "2026-06-16T09:00:00", "2026-13-45T99:00:00Z", "infinity", ""):
        recorded(backed_up, value)
        assert check(program, "base_backup")["message"].startswith("none is recorded"), value
        assert age_of_base_backup(backed_up) < 600  # since the server started


def test_the_workers_figures_have_the_age_of_the_base_backup(backed_up: BackedUpServer) -> None:
    recorded(backed_up, (datetime.now(UTC) - timedelta(hours=2)).isoformat())
    assert 7200 <= age_of_base_backup(backed_up) < 7260


def age_of_base_backup(backed_up: BackedUpServer) -> float:
    async def read() -> float:
        backlog = Backlog(SILENT_SECONDS)
        async with Database(backed_up.server.url()) as database, reading(database) as tx:
            await backlog.read(tx)
        [age] = backlog.figures()["base_backup_age_seconds"][()]
        return age

    return asyncio.run(read())


def test_the_latest_backup_is_kept_with_the_wal_that_it_needs(backed_up: BackedUpServer) -> None:
    made, moments = [], []
    for number in range(2):
        made.append(backed_up.back_up(kept=1))
        backed_up.query(f"create table after_{number} ()")
        backed_up.query("select pg_sleep(1)")  # a restore knows whole seconds
        [(moment,)] = backed_up.query("select (clock_timestamp() at time zone 'UTC')::text || ' UTC'")
        moments.append(moment)
        backed_up.wait_for_archive()
    assert [path.name for path in (backed_up.folder / "base").iterdir()] == [made[1].name]
    backed_up.query("create table too_late ()")
    backed_up.wait_for_archive()
    backed_up.destroy()
    backed_up.restore(moments[1])
    tables = backed_up.query("select relname from pg_class where relname like 'after_%' or relname = 'too_late'")
    assert sorted(tables) == [("after_0",), ("after_1",)]


def test_the_end_of_the_archive_is_restored_of_the_timeline_that_is_named(backed_up: BackedUpServer) -> None:
    backed_up.back_up()
    for table, timeline in (("kept_first", []), ("kept_second", []), ("kept_third", ["00000001"])):
        backed_up.query(f"create table {table} ()")
        backed_up.wait_for_archive()
        backed_up.destroy()
        backed_up.restore("end", *timeline)
    assert backed_up.query("select relname from pg_class where relname like 'kept_%'") == [("kept_first",)]
