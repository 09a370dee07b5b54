"""The secret key: services reject one that is not the database's, and `secret rotate` replaces it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from support.command_line import Forker, Program, started
from support.orders import buy, sell
from support.secret_keys import NEW, OLD, STRANGE, configure, forget_secrets, passwords, registered
from support.service import Service
from support.shop import stock_shop
from support.waiting import waiting_for_a_lock
from tradecounter.db.embedded import EmbeddedPostgres

pytestmark = pytest.mark.long

REJECTED = (
    "TRADECOUNTER_SECRET_KEY: this database uses a key that is neither this key nor in "
    "TRADECOUNTER_FORMER_SECRET_KEYS: restore that key; if it is lost, see `tradecounter secret rotate --help`"
)
SERVICES = (["serve", "--port", "0"], ["serve", "--port", "0", "--workers", "2"], ["worker"], ["demo", "--port", "0"])


@pytest.fixture(scope="module")
def placed(service: Service) -> dict[str, Any]:
    """An order with an item to configure."""
    stock_shop(service)
    sell(service, "ROUTER", 1, configurable=True)
    return buy(service.customer(), [("ROUTER", 1)])


@pytest.fixture
def item(service: Service, placed: dict[str, Any]) -> Iterator[int]:
    """The item, without configurations, in a database that knows no key."""
    forget_secrets(service.database_url)
    yield placed["items"][0]["id"]
    forget_secrets(service.database_url)


@pytest.fixture(scope="module")
def tradecounter(service: Service, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    return Program(tmp_path_factory.mktemp("secret"), service.database_url, forker)


def keys(current: str, *former: str) -> dict[str, str]:
    return {"TRADECOUNTER_SECRET_KEY": current, "TRADECOUNTER_FORMER_SECRET_KEYS": ", ".join(former)}


def counts(rotated: int, current: int, unreadable: int) -> dict[str, int]:
    return {"rotated": rotated, "current": current, "unreadable": unreadable}


@pytest.mark.usefixtures("item")
def test_the_first_service_of_a_database_registers_its_key(
    service: Service, tradecounter: Program, tmp_path: Path
) -> None:
    environment = {"TRADECOUNTER_DATABASE_URL": service.database_url, **keys(OLD)}
    with started("serve", "--port", "0", "--json", folder=tmp_path, environment=environment):
        assert registered(service.database_url) == {OLD}
    for words in SERVICES:
        assert tradecounter.error(*words, "--json", **keys(STRANGE)) == REJECTED
    assert tradecounter.error("secret", "rotate", "--json", **keys(STRANGE)) == REJECTED
    assert registered(service.database_url) == {OLD}


def test_the_first_key_must_decrypt_the_stored_configurations(
    item: int, service: Service, tradecounter: Program
) -> None:
    configure(service.database_url, item, OLD, ["first", "second"])
    for words in SERVICES:
        assert tradecounter.error(*words, **keys(NEW, STRANGE)) == REJECTED
    assert registered(service.database_url) == set()
    assert tradecounter.json("secret", "rotate", **keys(OLD)) == counts(0, 2, 0)
    assert registered(service.database_url) == {OLD}


@pytest.mark.usefixtures("item")
def test_services_with_an_external_database_need_a_key(tradecounter: Program) -> None:
    for words in (*SERVICES, ["secret", "rotate"]):
        assert tradecounter.error(*words) == "TRADECOUNTER_SECRET_KEY: is required with TRADECOUNTER_DATABASE_URL"


def test_a_former_key_is_needed_until_the_rotation(
    item: int, service: Service, tradecounter: Program, tmp_path: Path
) -> None:
    url = service.database_url
    configure(url, item, OLD, ["one", "two"])
    environment = {"TRADECOUNTER_DATABASE_URL": url, **keys(NEW, STRANGE, OLD)}
    with started("worker", "--json", folder=tmp_path, environment=environment):
        assert registered(url) == {OLD, NEW}
    for only in (NEW, OLD):  # what either encrypted would not be readable
        assert tradecounter.error("worker", **keys(only)) == REJECTED
    configure(url, item, NEW, ["three"])
    assert tradecounter.json("secret", "rotate", **keys(NEW, OLD)) == counts(2, 1, 0)
    assert passwords(url, NEW) == ["one", "two", "three"]
    assert registered(url) == {NEW}
    assert tradecounter.json("secret", "rotate", **keys(NEW)) == counts(0, 3, 0)
    assert tradecounter.error("worker", **keys(OLD)) == REJECTED


def test_a_killed_rotation_is_completed_by_the_next_one(
    item: int, service: Service, tradecounter: Program, tmp_path: Path
) -> None:
    url, names = service.database_url, [f"password {number}" for number in range(1800)]
    configure(url, item, OLD, names)
    environment = {"TRADECOUNTER_DATABASE_URL": url, **keys(NEW, OLD)}
    with psycopg.connect(url) as other:
        other.execute("select from configuration where id = (select min(id) + 1200 from configuration) for update")
        with started("secret", "rotate", "--json", folder=tmp_path, environment=environment, wait=False) as running:
            waiting_for_a_lock(url)
            running.process.kill()
    done = sum(password is not None for password in passwords(url, NEW))
    assert 0 < done < 1200
    assert passwords(url, NEW, OLD) == names
    assert registered(url) == {OLD, NEW}
    assert tradecounter.text("secret", "rotate", **keys(NEW, OLD)) == (
        f"{1800 - done} re-encrypted with the current key, {done} already were\n"
    )
    assert passwords(url, NEW) == names
    assert registered(url) == {NEW}


def test_a_lost_key_is_accepted_only_with_the_option(item: int, service: Service, tradecounter: Program) -> None:
    url = service.database_url
    configure(url, item, OLD, ["lost"])
    assert tradecounter.json("secret", "rotate", **keys(OLD)) == counts(0, 1, 0)
    configure(url, item, NEW, ["kept"])
    assert tradecounter.error("secret", "rotate", **keys(NEW)) == REJECTED
    assert tradecounter.json("secret", "rotate", "--accept-loss", **keys(NEW)) == counts(0, 1, 1)
    assert registered(url) == {NEW}
    assert "1 cannot be decrypted with any key" in tradecounter.text("secret", "rotate", **keys(NEW))
    assert passwords(url, NEW) == [None, "kept"]
    assert passwords(url, OLD) == ["lost", None]  # it stays as it was, should the key be found again


def test_configurations_that_cannot_be_decrypted_are_left_out(
    item: int, placed: dict[str, Any], service: Service, tradecounter: Program
) -> None:
    configure(service.database_url, item, OLD, ["lost"])
    configure(service.database_url, item, NEW, ["kept"])
    show = ["order", "show", placed["order_reference"]]
    cancel = ["order", "cancel", placed["order_reference"], "--reason", "a test"]
    for words in (show, cancel):
        assert tradecounter.error(*words, **keys(STRANGE)) == REJECTED
    tradecounter.json("secret", "rotate", "--accept-loss", **keys(NEW))
    for options in ([], ["--passwords"]):
        done = tradecounter.run(*show, *options, "--json", **keys(NEW))
        shown = "kept" if options else "(hidden)"
        assert [c["data"] for c in done.document["items"][0]["configurations"]] == [
            {"product": "ROUTER"},
            {"product": "ROUTER", "adsl_username": "line@isp.example", "adsl_password": shown},
        ]
        assert done.document["state"] == "confirmed"
        assert done.err == f"warning: configurations that cannot be decrypted are shown without data: item {item}\n"
    assert tradecounter.run(*show, **keys(NEW)).status == 0
    assert tradecounter.error(*show, **keys(STRANGE)) == REJECTED


def test_the_embedded_databases_key_is_rotated_by_writing_a_new_one(tmp_path: Path, forker: Forker) -> None:
    here, file = Program(tmp_path, None, forker), tmp_path / ".tradecounter" / "secret.key"
    with EmbeddedPostgres(file.parent, durable=False):  # so that not every command starts it
        here.json("db", "upgrade")
        assert here.json("secret", "rotate") == counts(0, 0, 0)
        old = file.read_text()
        file.write_text("a" * 64)
        assert here.error("worker") == REJECTED
        assert here.json("secret", "rotate", TRADECOUNTER_FORMER_SECRET_KEYS=old) == counts(0, 0, 0)
        assert here.json("secret", "rotate") == counts(0, 0, 0)
        file.write_text(old)
        assert here.error("worker") == REJECTED


def test_no_output_reveals_a_key(item: int, service: Service, tradecounter: Program) -> None:
    configure(service.database_url, item, OLD, ["one"])
    done = tradecounter.run("secret", "rotate", "--json", **keys(NEW, OLD))
    settings = tradecounter.text("settings", **keys(NEW, OLD))
    for text in (done.out, done.err, settings):
        assert OLD not in text
        assert NEW not in text
