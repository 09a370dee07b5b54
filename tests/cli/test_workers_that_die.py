"""`serve --workers` keeps its processes running, also those that cannot start for a while."""

import os
import resource
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx2
import psycopg
import pytest

from support.cluster import Cluster
from support.command_line import SECRET, Running, started
from support.interface import checked_client
from support.outage import database_away
from support.processes import alive, api_processes, children, fork_servers
from support.waiting import wait_for

pytestmark = pytest.mark.long


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder for the fork server's socket, whose path must be short."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture
def served(database_url: str, tmp_path: Path, temporary: Path) -> Iterator[Running]:
    environment = {
        "TRADECOUNTER_DATABASE_URL": database_url,
        "TRADECOUNTER_SECRET_KEY": SECRET,
        "TMPDIR": str(temporary),
    }
    words = ("serve", "--port", "0", "--workers", "2", "--json")
    with started(*words, folder=tmp_path, environment=environment) as running:
        yield running


def workers(running: Running) -> list[int]:
    """The processes that serve requests, or will."""
    return sorted(api_processes(running.process.pid))


def failures(running: Running) -> int:
    return sum("an API process ended" in line for line in running.logs)


def connections(database_url: str) -> int:
    """The connections that services have to a database."""
    with psycopg.connect(database_url) as connection:
        row = connection.execute(
            "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        ).fetchone()
    assert row is not None
    return int(row[0])


def end(pid: int) -> None:
    """Kill a process, which the supervisor may have given up for its silence on a busy machine."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def is_ready(running: Running) -> bool:
    with checked_client() as client:
        try:
            return client.get(f"{running.announced['base_url']}/ready", timeout=5).status_code == 200
        except httpx2.TransportError:
            return False


def test_a_process_that_dies_during_an_outage_is_restarted_after_it(
    served: Running, postgres: Cluster, database_url: str
) -> None:
    wait_for(
        lambda: is_ready(served) and connections(database_url) >= 4 and len(workers(served)) == 2
    )  # two of each worker process, once it has started
    first = workers(served)
    with database_away(postgres, database_url):
        end(first[0])
        wait_for(lambda: failures(served) >= 2)  # the one that was to replace it cannot start
        assert served.process.poll() is None
    end(first[1])
    wait_for(lambda: len(set(workers(served)) - set(first)) == 2)
    wait_for(lambda: is_ready(served))
    assert served.stop(signal.SIGTERM)[0] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_all_processes_while_the_fork_server_imports_is_no_error(served: Running, number: int) -> None:
    supervisor = served.process.pid
    wait_for(lambda: fork_servers(supervisor))
    os.kill(fork_servers(supervisor)[0], number)
    status, output = served.stop(number)
    assert (status, output) == (0, "")
    assert not [line for line in served.logs if "Traceback" in line]


def test_processes_whose_supervisor_is_killed_stop_by_themselves(served: Running) -> None:
    wait_for(lambda: is_ready(served) and len(workers(served)) == 2)
    processes = [*workers(served), *children(served.process.pid)]
    os.kill(served.process.pid, signal.SIGKILL)
    wait_for(lambda: not any(map(alive, processes)))


def test_processes_outlive_their_fork_server_and_new_ones_come_from_a_new_one(served: Running, tmp_path: Path) -> None:
    wait_for(lambda: is_ready(served) and len(workers(served)) == 2)
    first, other = workers(served)
    (tmp_path / "structlog.py").write_text("raise AssertionError('imported from the working directory')")
    [fork_server] = fork_servers(served.process.pid)
    os.kill(fork_server, signal.SIGKILL)
    wait_for(lambda: not alive(fork_server))
    time.sleep(4)  # the supervisor looks twice a second, the processes once
    assert alive(first)
    assert alive(other)
    assert is_ready(served)
    assert failures(served) == 0
    end(first)
    wait_for(lambda: len(workers(served)) == 1 and workers(served) != [first])
    [fork_server] = fork_servers(served.process.pid)
    [new] = children(fork_server)
    assert alive(other)
    wait_for(lambda: is_ready(served))
    assert served.stop(signal.SIGTERM)[0] == 0
    wait_for(lambda: not alive(other) and not alive(new))
    assert not [line for line in served.logs if "Traceback" in line]


def test_processes_that_outlived_their_fork_server_are_replaced_on_sighup(served: Running) -> None:
    wait_for(lambda: is_ready(served) and len(workers(served)) == 2)
    before = workers(served)
    [fork_server] = fork_servers(served.process.pid)
    os.kill(fork_server, signal.SIGKILL)
    wait_for(lambda: not alive(fork_server))
    os.kill(served.process.pid, signal.SIGHUP)
    wait_for(lambda: not any(map(alive, before)) and len(workers(served)) == 2)
    assert is_ready(served)
    assert served.stop(signal.SIGTERM)[0] == 0


def test_a_process_starts_from_scratch_where_the_fork_server_cannot_be_reached(
    served: Running, temporary: Path
) -> None:
    wait_for(lambda: is_ready(served) and len(workers(served)) == 2)
    [listener] = temporary.glob("*/listener-*")
    listener.unlink()
    first, other = workers(served)
    end(first)
    wait_for(lambda: len(set(workers(served)) - {first}) == 2)
    wait_for(lambda: any("cannot be forked, so it starts from scratch" in line for line in served.logs))
    end(other)
    wait_for(lambda: is_ready(served))
    assert served.stop(signal.SIGTERM)[0] == 0


def test_a_process_is_started_again_once_the_system_has_room_for_it(served: Running) -> None:
    wait_for(lambda: is_ready(served) and len(workers(served)) == 2)
    first, other = workers(served)
    supervisor = served.process.pid
    usual = resource.prlimit(supervisor, resource.RLIMIT_NOFILE)
    resource.prlimit(supervisor, resource.RLIMIT_NOFILE, (3, usual[1]))
    end(first)
    wait_for(lambda: any("cannot be started, trying again" in line for line in served.logs))
    os.kill(supervisor, signal.SIGHUP)
    wait_for(lambda: any("cannot be started, so the others go on" in line for line in served.logs))
    assert alive(other)
    resource.prlimit(supervisor, resource.RLIMIT_NOFILE, usual)
    wait_for(lambda: len(set(workers(served)) - {first}) == 2)
    wait_for(lambda: is_ready(served))
    assert served.stop(signal.SIGTERM)[0] == 0


def test_a_service_is_stopped_while_it_waits_for_a_process_that_replaces_another(served: Running) -> None:
    wait_for(lambda: is_ready(served) and len(workers(served)) == 2)
    before = set(workers(served))
    os.kill(served.process.pid, signal.SIGHUP)
    while not (new := set(workers(served)) - before):
        time.sleep(0.001)
    os.kill(new.pop(), signal.SIGSTOP)  # it never gets ready, for which it has two minutes
    time.sleep(2)
    assert served.stop(signal.SIGTERM)[0] == 0
