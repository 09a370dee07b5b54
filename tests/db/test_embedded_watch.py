"""The embedded PostgreSQL is started again when it dies under a service, and not when the service stops it."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from structlog.testing import capture_logs

from support.processes import adopt_orphans, alive, kill_server
from support.waiting import wait_for
from tradecounter.db.embedded import EmbeddedPostgres, kept_running

pytestmark = pytest.mark.long

WithCluster = Callable[[Path], Path]

DIED, BACK = "the embedded PostgreSQL has died, restarting it", "the embedded PostgreSQL is running again"


@pytest.fixture(scope="module", autouse=True)
def _adopted_orphans() -> None:
    adopt_orphans()


def has_data(url: str) -> bool:
    with suppress(psycopg.OperationalError), psycopg.connect(url) as connection:
        return connection.execute("select number from kept").fetchone() == (42,)
    return False


def test_a_killed_server_is_restarted_with_all_committed_data(tmp_path: Path, with_cluster: WithCluster) -> None:
    with capture_logs() as logged, EmbeddedPostgres(with_cluster(tmp_path)) as server, kept_running(server):
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute("create table kept as select 42 as number")
        for _ in range(2):
            killed = server.postmaster
            assert killed is not None
            kill_server(killed)
            wait_for(lambda: has_data(server.url()))
            assert server.postmaster not in {killed, None}
            wait_for(lambda: logged[-1]["event"] == BACK)
        last = server.postmaster
    assert last is not None
    assert not alive(last)
    assert [entry["event"] for entry in logged] == [DIED, BACK] * 2
    assert [entry["log_level"] for entry in logged[:2]] == ["error", "warning"]


def test_a_server_that_was_stopped_manually_is_restarted(tmp_path: Path, with_cluster: WithCluster) -> None:
    with EmbeddedPostgres(with_cluster(tmp_path), durable=False) as server, kept_running(server):
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute("create table kept as select 42 as number")
        stopped = server.postmaster
        assert stopped is not None
        os.kill(stopped, signal.SIGINT)
        wait_for(lambda: server.postmaster not in {stopped, None} and has_data(server.url()))


def test_a_deleted_link_to_the_socket_is_created_again(tmp_path: Path, with_cluster: WithCluster) -> None:
    data_dir = with_cluster(tmp_path / ("long-" + "x" * 150))
    with EmbeddedPostgres(data_dir, durable=False) as server, kept_running(server):
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute("create table kept as select 42 as number")
        postmaster = server.postmaster
        server.socket_dir.unlink()
        server.socket_dir.parent.rmdir()
        wait_for(lambda: has_data(server.url()))
        assert server.postmaster == postmaster


def test_a_deleted_data_directory_is_reported_and_not_created(tmp_path: Path, with_cluster: WithCluster) -> None:
    with capture_logs() as logged, EmbeddedPostgres(with_cluster(tmp_path), durable=False) as server:
        with kept_running(server):
            postmaster = server.postmaster
            assert postmaster is not None
            server.data.rename(tmp_path / "elsewhere")
            os.kill(postmaster, signal.SIGQUIT)
            wait_for(lambda: len(logged) > 1)
        assert not server.data.exists()
    assert [entry["event"] for entry in logged[:2]] == [DIED, "the embedded PostgreSQL does not start"]
    assert str(server.data) in logged[1]["error"]
