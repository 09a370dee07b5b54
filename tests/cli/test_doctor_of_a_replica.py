"""`tradecounter doctor` checks the read replica, on a real streaming pair."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.command_line import SECRET, Forker, Program
from support.mail import free_port
from support.replica import Replica, Server, streaming_pair
from support.waiting import wait_for
from tradecounter.db.migrate import upgrade

pytestmark = pytest.mark.long

Pair = tuple[Server, Replica]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with streaming_pair(tmp_path_factory.mktemp("pair")) as found:
        upgrade(found[0].url)
        yield found


@pytest.fixture
def program(pair: Pair, tmp_path: Path, forker: Forker) -> Program:
    return Program(tmp_path, pair[0].url, forker, {"TRADECOUNTER_SECRET_KEY": SECRET})


def check(program: Program, replica_url: str) -> dict[str, Any]:
    """The doctor's check of the replica, which has a remedy exactly if something is wrong."""
    checks = program.run("doctor", "--json", TRADECOUNTER_REPLICA_URL=replica_url).document["checks"]
    found: dict[str, Any] = next(check for check in checks if check["name"] == "replica")
    assert (found["remedy"] is None) == found["ok"]
    return found


def why_not(program: Program, replica_url: str) -> str:
    found = check(program, replica_url)
    assert not found["ok"]
    message: str = found["message"]
    return message


def test_a_replica_that_follows_is_fine(pair: Pair, program: Program) -> None:
    primary, replica = pair
    primary.run("insert into change values ('catalogue', 1) on conflict (topic) do update set version = 2")
    wait_for(lambda: check(program, replica.url)["ok"])  # it has replayed that there is a schema
    found = check(program, replica.url)
    assert found["message"] == "it is read-only, on the primary's timeline 1, and has the primary's whole log"


def test_a_replica_whose_replay_is_paused_is_found_until_it_goes_on(pair: Pair, program: Program) -> None:
    primary, replica = pair
    replica.pause()
    wait_for(lambda: replica.ask("select pg_get_wal_replay_pause_state()") == "paused")
    primary.run(
        "insert into change values ('prices', 1) on conflict (topic) do update set version = change.version + 1"
    )
    wait_for(lambda: check(program, replica.url)["message"].endswith("; its replay is paused"))  # once it is flushed
    replica.resume()
    wait_for(lambda: check(program, replica.url)["ok"])


def test_without_a_replica_nothing_is_checked(program: Program) -> None:
    assert check(program, "")["message"] == "not used: TRADECOUNTER_REPLICA_URL is not set"


def test_what_is_not_a_replica_of_the_database_is_found(pair: Pair, program: Program, database_url: str) -> None:
    assert why_not(program, pair[0].url) == "it is the primary itself"
    assert why_not(program, database_url) == "it is not a replica of the database"


def test_a_database_that_is_a_replica_itself_is_found(pair: Pair, tmp_path: Path, forker: Forker) -> None:
    exchanged = Program(tmp_path, pair[1].url, forker, {"TRADECOUNTER_SECRET_KEY": SECRET})
    assert why_not(exchanged, pair[0].url) == "the database itself is a replica"


def test_a_replica_that_cannot_be_reached_is_found_without_its_password(pair: Pair, program: Program) -> None:
    away = f"postgresql://reader:hunter2@127.0.0.1:{free_port()}/shop"
    message = why_not(program, away)
    assert "refused" in message
    assert "hunter2" not in message
    assert why_not(program, "postgresql://reader:hidden word@replica:port/shop") == (
        "TRADECOUNTER_REPLICA_URL: is not a valid PostgreSQL URL"
    )
    with pair[1].hanging():
        assert "timeout" in why_not(program, pair[1].url)


def test_a_former_replica_that_was_promoted_is_found(tmp_path: Path, forker: Forker) -> None:
    with streaming_pair(tmp_path) as (primary, promoted):
        upgrade(primary.url)
        program = Program(tmp_path, primary.url, forker, {"TRADECOUNTER_SECRET_KEY": SECRET})
        wait_for(lambda: promoted.ask("select to_regclass('change') is not null"))  # it has replayed the schema
        assert promoted.ask("select pg_promote()")
        assert why_not(program, promoted.url) == "it is not a replica, but another primary"
