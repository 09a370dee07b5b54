"""A commit that no replica confirms is neither acknowledged nor cancelled; its key finds its response again."""

import asyncio
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import LiteralString

import httpx2
import psycopg
import pytest
from psycopg.sql import SQL, Composed, Identifier

from support.agent_consent import call_list, connecting
from support.backoffice import backoffice_of
from support.pages import customer_user
from support.service import Customer, Service, running_service
from support.shop import STANDARD, order, stock_shop
from support.waiting import wait_for
from tradecounter.db.embedded import EmbeddedPostgres
from tradecounter.db.migrate import upgrade
from tradecounter.db.pipeline import CommitInDoubtError
from tradecounter.db.pool import Database
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import transaction
from tradecounter.feeds.manage import add_feed, feed_vault
from tradecounter.feeds.wire import FeedTerms

pytestmark = pytest.mark.long

KEYED = {"Idempotency-Key": "k-1"}
BODY = order(auto_confirm=True, shipping_method={"id": STANDARD})
_WAITING = "select count(*) from pg_stat_activity where wait_event = 'SyncRep'"
_NOTE = Statement("insert into kept values (1)")
USES = {
    "session": "seen_at",
    "agent_consent": "last_used_at",
    "feed": "last_read_at",
    "service_token": "last_used_at",
}
_AGE = SQL("update {} set {column} = %(now)s - interval '5 minutes'")


class Primary:
    """A primary whose only replica confirms everything or, while it is `alone`, nothing."""

    def __init__(self, server: EmbeddedPostgres) -> None:
        self.url = server.url()
        self._administrator_url = server.administrator_url()

    def alone(self, *, alone: bool) -> None:
        """Have commits wait for a replica that does not exist, or end that."""
        with psycopg.connect(self._administrator_url, autocommit=True) as connection:
            names = "nobody" if alone else ""
            connection.execute(SQL("alter system set synchronous_standby_names = {}").format(names))
            connection.execute("select pg_reload_conf()")
        wait_for(lambda: self._value("select current_setting('synchronous_standby_names')") == names)

    @property
    def waiting(self) -> int:
        """How many commits wait for a replica."""
        return int(self._value(_WAITING))

    def count(self, table: str) -> int:
        return int(self._value(SQL("select count(*) from {}").format(Identifier(table))))

    def _value(self, query: LiteralString | Composed) -> str:
        with psycopg.connect(self._administrator_url) as connection:
            row = connection.execute(query).fetchone()
        assert row is not None
        return str(row[0])


@pytest.fixture(scope="module")
def primary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Primary]:
    folder: Path = tmp_path_factory.mktemp("primary")
    with EmbeddedPostgres(folder) as server:  # durable: others do not wait for replicas
        upgrade(server.url())
        with psycopg.connect(server.url()) as connection:
            connection.execute("create table kept (n int)")
        yield Primary(server)


@pytest.fixture
def alone(primary: Primary) -> Iterator[Primary]:
    yield primary
    primary.alone(alone=False)


@pytest.fixture(scope="module")
def shop(primary: Primary) -> Iterator[Service]:
    with running_service(primary.url, commit_timeout=timedelta(seconds=1)) as service:
        stock_shop(service)
        yield service


def place(customer: Customer) -> httpx2.Response:
    return customer.post("/order", BODY, headers=KEYED)


def test_an_order_that_no_replica_confirms_is_in_doubt_and_found_again(alone: Primary, shop: Service) -> None:
    customer = shop.customer()
    place_before = alone.count("orders")
    alone.alone(alone=True)
    unconfirmed = place(customer)
    assert unconfirmed.status_code == 503
    message = unconfirmed.text
    assert "the change may have been carried out" in message
    assert unconfirmed.headers["X-Request-Id"] in message
    assert alone.waiting == 1  # neither cancelled nor visible
    assert alone.count("orders") == place_before
    assert place(customer).status_code == 409

    alone.alone(alone=False)
    wait_for(lambda: alone.waiting == 0)
    replay = place(customer)
    assert (replay.status_code, replay.headers["Idempotent-Replay"]) == (201, "true")
    assert alone.count("orders") == place_before + 1


def test_a_replay_waits_for_replicas_too(alone: Primary, shop: Service) -> None:
    customer = shop.customer()
    assert place(customer).status_code == 201
    alone.alone(alone=True)
    assert place(customer).status_code == 503
    alone.alone(alone=False)
    assert place(customer).headers["Idempotent-Replay"] == "true"


def test_a_second_confirmation_waits_for_replicas_too(alone: Primary, shop: Service) -> None:
    customer = shop.customer()
    code = customer.post("/order", order()).json()["confirmation_code"]
    body = {"shipping_method": {"id": STANDARD}}
    first = customer.put(f"/order/{code}", body)
    alone.alone(alone=True)
    assert customer.put(f"/order/{code}", body).status_code == 503
    alone.alone(alone=False)
    assert customer.put(f"/order/{code}", body).json() == first.json()


def test_reads_go_on_and_stay_current_while_commits_wait(alone: Primary, shop: Service) -> None:
    customer = shop.customer()
    alone.alone(alone=True)
    assert customer.get("/product").status_code == 200
    shop.refresh()  # writes the counts of requests
    assert customer.get("/order").status_code == 200


def test_a_use_is_recorded_at_once_while_commits_wait(alone: Primary, shop: Service) -> None:
    """Whoever reads with a service token, a cookie, an agent or a feed's address."""
    customer = shop.customer()
    shop.refresh()
    view = shop.application.storefront.last_view(customer.id)
    assert view is not None
    vault = feed_vault(lambda: [shop.settings.secret_key or ""])
    terms, now = FeedTerms(name="shop", columns="sku\nprice", query=""), shop.clock.now()
    secret = shop.in_transaction(lambda tx: add_feed(tx, vault, customer.id, terms, view, now)).secret
    person = customer_user(shop, customer.id)
    token = connecting(shop, person).tokens()["access_token"]
    with backoffice_of(shop) as back_office:
        caller = back_office.caller()
        with psycopg.connect(alone.url) as connection:
            for table, column in USES.items():
                connection.execute(_AGE.format(Identifier(table), column=Identifier(column)), {"now": now})
        alone.alone(alone=True)
        assert person.get("/account/order").status_code == 200
        assert call_list(shop, token).status_code == 200
        assert httpx2.get(f"{shop.url}/feed/{secret}.csv").status_code == 200
        assert caller.get("/api/order").status_code == 200
        assert alone.waiting == 0
    with psycopg.connect(alone.url) as connection:
        for table, column in USES.items():
            rows = connection.execute(SQL("select {} from {}").format(Identifier(column), Identifier(table))).fetchall()
            assert (now,) in rows, table


async def _note(url: str, seconds: float | None) -> None:
    async with Database(url, connections=1, commit_seconds=seconds) as database, transaction(database) as tx:
        await tx.execute(_NOTE)


def test_a_commit_is_not_cancelled_with_its_task(alone: Primary) -> None:
    async def run() -> None:
        task = asyncio.create_task(_note(alone.url, None))
        while not alone.waiting:  # noqa: ASYNC110 the database offers no event
            await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    alone.alone(alone=True)
    asyncio.run(run())
    assert alone.waiting == 1
    assert alone.count("kept") == 0
    with pytest.raises(CommitInDoubtError):
        asyncio.run(_note(alone.url, 0.5))
    alone.alone(alone=False)
    wait_for(lambda: alone.count("kept") == 2)


def test_waiting_for_a_commit_takes_no_processor_time(alone: Primary) -> None:
    alone.alone(alone=True)

    async def wait_one_second() -> float:
        start = time.process_time()
        with pytest.raises(CommitInDoubtError):
            await _note(alone.url, 1)
        return time.process_time() - start

    assert asyncio.run(wait_one_second()) < 0.5
