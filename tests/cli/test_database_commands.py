"""`db`, and every command on a database that is not migrated, not there, or not named at all."""

import socket
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from support.cluster import Cluster
from support.command_line import SECRET, Forker, Program
from tradecounter.db.schema_state import schema_state

pytestmark = pytest.mark.long

COMMANDS_ON_A_DATABASE = [
    ["customer", "list"],
    ["customer", "show", "1"],
    ["customer", "edit", "1", "--company", "X"],
    ["customer", "add", "--email", "a@a.example", "--first-name", "A", "--last-name", "B"],
    ["key", "add", "1"],
    ["key", "list", "1"],
    ["key", "disable", "1"],
    ["order", "list"],
    ["order", "show", "1"],
    ["product", "show", "PHONE"],
    ["price", "show", "1001", "PHONE"],
    ["stock", "show", "PHONE"],
    ["invoice", "list"],
    ["invoice", "show", "10001"],
    ["quote", "list"],
    ["import", "stock", "stock.csv"],
    ["db", "check"],
    ["serve", "--port", "0"],
    ["worker"],
]


@pytest.fixture(scope="module")
def tradecounter(tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    """The command line on the embedded database of its folder, unless it is told another."""
    folder = Path(tmp_path_factory.mktemp("database"))
    (folder / "stock.csv").write_text("sku,available\nPHONE,1\n")
    return Program(folder, None, forker)


@pytest.fixture(scope="module")
def empty(postgres: Cluster, tradecounter: Program) -> Iterator[Program]:
    with postgres.empty_database() as url:
        yield Program(tradecounter.folder, url, tradecounter.forker, {"TRADECOUNTER_SECRET_KEY": SECRET})


@pytest.mark.parametrize("words", COMMANDS_ON_A_DATABASE, ids=" ".join)
def test_without_tables_every_command_names_the_command_to_run(words: list[str], empty: Program) -> None:
    assert "run `tradecounter db upgrade`" in empty.error(*words, "--json")


def test_a_second_upgrade_changes_nothing(postgres: Cluster, tradecounter: Program) -> None:
    with postgres.empty_database() as url:
        here = Program(tradecounter.folder, url, tradecounter.forker)
        newest = schema_state(url).newest
        assert here.error("db", "check").startswith(f"the schema is at revision (none), not {newest}")
        assert here.json("db", "upgrade") == {"revision": newest}
        assert here.json("db", "upgrade") == {"revision": newest}
        assert here.json("db", "check") == {"revision": newest}
        assert here.text("db", "check") == f"the schema is current, at revision {newest}\n"
        assert here.text("db", "upgrade") == f"the schema is at revision {newest}\n"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("update alembic_version set version_num = '9999'")
        remedy = "install the newer version again"
        reason = f"the schema is at revision 9999, with which this version does not work: {remedy}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("comment on table alembic_version is null")  # by a version that notes nothing
        for command in ("upgrade", "check"):
            assert here.error("db", command, "--json") == reason


def test_a_database_is_only_told_that_it_was_restored_when_the_operator_says_so(
    postgres: Cluster, tradecounter: Program
) -> None:
    documents = ("--last-invoice", "20000", "--last-credit-note", "60000")
    with postgres.database() as url:
        here = Program(tradecounter.folder, url, tradecounter.forker, {"TRADECOUNTER_SECRET_KEY": SECRET})
        reason = here.error("db", "restored", *documents)
        assert reason.startswith("this is for a database that was restored from a backup: it leaves out 10000 ids")
        assert reason.endswith("Nothing was changed; repeat the command with --yes")
        assert here.json("event", "list") == []
        assert here.json("db", "restored", *documents, "--skip", "0", "--yes")["ids_left_out"] == 0
        assert here.json("db", "restored", *documents, "--yes")["ids_left_out"] == 10000


def test_a_database_that_is_away_is_rejected_with_the_reason(tradecounter: Program) -> None:
    away = "postgresql://user:hunter2@127.0.0.1:9/shop"
    for words in (["customer", "list"], ["db", "upgrade"], ["db", "check"], ["serve", "--port", "0"], ["worker"]):
        reason = tradecounter.error(*words, "--json", TRADECOUNTER_DATABASE_URL=away)
        assert reason.startswith("the database cannot be reached: ")
        assert "refused" in reason
        assert "hunter2" not in reason


def test_a_database_that_does_not_exist_is_rejected_by_name(postgres: Cluster, tradecounter: Program) -> None:
    url = postgres.url_of("no_such_database")
    reason = tradecounter.error("customer", "list", TRADECOUNTER_DATABASE_URL=url)
    assert '"no_such_database" does not exist' in reason


def test_a_database_that_may_only_be_read_is_rejected(postgres: Cluster, tradecounter: Program) -> None:
    with postgres.empty_database() as url:
        separator = "&" if "?" in url else "?"
        read_only = f"{url}{separator}options=-c%20default_transaction_read_only%3Don"
        reason = tradecounter.error("db", "upgrade", TRADECOUNTER_DATABASE_URL=read_only)
    assert reason == "the database does not allow this: cannot execute CREATE TABLE in a read-only transaction"


def test_a_port_in_use_is_rejected(empty: Program) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        reason = (
            f"cannot listen on 127.0.0.1 port {port}: Address already in use; "
            "choose another --port, or 0 for any free port"
        )
        for command in ("serve", "demo"):
            assert empty.error(command, "--port", port, "--json") == reason
        staff_reason = empty.error("demo", "--port", "0", "--backoffice-port", port)
        assert staff_reason == reason.replace("--port", "--backoffice-port")
    assert "cannot listen on 192.0.2.1 port" in empty.error("serve", "--host", "192.0.2.1")
    for command, option in ("serve", "--host"), ("demo", "--host"), ("worker", "--metrics-host"):
        assert "'ü..b' is neither an address nor a host name" in empty.misused(command, option, "ü..b")


def test_an_external_database_requires_a_secret_key(database_url: str, tradecounter: Program) -> None:
    reason = tradecounter.error("demo", "--port", "0", TRADECOUNTER_DATABASE_URL=database_url)
    assert reason == "TRADECOUNTER_SECRET_KEY: is required with TRADECOUNTER_DATABASE_URL"


def test_without_a_configured_database_commands_use_the_embedded_one(tradecounter: Program) -> None:
    tradecounter.json("db", "upgrade")
    name = ["--email", "a@a.example", "--first-name", "A", "--last-name", "B"]
    added = tradecounter.json("customer", "add", *name)
    assert tradecounter.json("customer", "list") == [added]
    assert (tradecounter.folder / ".tradecounter" / "postgres").is_dir()
    assert not (tradecounter.folder / ".tradecounter" / "postgres" / "data" / "postmaster.pid").exists()
    elsewhere = str(tradecounter.folder / "else where")
    tradecounter.json("db", "upgrade", TRADECOUNTER_DATA_DIR=elsewhere)
    assert tradecounter.json("customer", "list", TRADECOUNTER_DATA_DIR=elsewhere) == []


@pytest.mark.parametrize("words", COMMANDS_ON_A_DATABASE, ids=" ".join)
def test_without_a_database_commands_fail_and_create_none(
    words: list[str], tradecounter: Program, tmp_path: Path
) -> None:
    (tmp_path / "stock.csv").write_text("sku,available\nPHONE,1\n")
    nowhere = Program(tmp_path, None, tradecounter.forker)
    reason = nowhere.error(*words, "--json")
    assert reason == (
        f"there is no database in {tmp_path / '.tradecounter'}: run this in the folder where yours is, set "
        "TRADECOUNTER_DATA_DIR or TRADECOUNTER_DATABASE_URL, or create one with `tradecounter db upgrade` or "
        "`tradecounter demo`"
    )
    assert not (tmp_path / ".tradecounter").exists()
