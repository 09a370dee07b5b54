"""What changes after the database server crashed is seen, though it gives out transaction ids and versions again."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any, LiteralString

import psycopg
import pytest
from msgspec.structs import replace

from support.processes import adopt_orphans, kill_server
from support.service import MORNING, Customer, Service, running_service
from support.shop import stock_shop
from support.waiting import wait_for
from tradecounter.bulk.rows import Row
from tradecounter.db.changes import read_versions
from tradecounter.db.embedded import EmbeddedPostgres
from tradecounter.db.migrate import upgrade
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.imports.run import import_and_commit
from tradecounter.prices.importing import PriceRow
from tradecounter.storefront.catalogue_data import read_catalogue_data, with_stock

pytestmark = pytest.mark.long

BURNT = 500  # transaction ids


@pytest.fixture(scope="module", autouse=True)
def _adopted_orphans() -> None:
    adopt_orphans()


@dataclass(frozen=True)
class Crashing:
    """A server of the tests' own, which loses in a crash what was committed in the seconds before."""

    server: EmbeddedPostgres
    url: str

    def execute(self, statement: LiteralString, *values: int) -> Any:
        """Run a statement; the first value that it returns, if any."""
        with psycopg.connect(self.server.administrator_url(), autocommit=True) as connection:
            done = connection.execute(statement, values)
            row = done.fetchone() if done.description else None
            return None if row is None else row[0]

    def start(self) -> None:
        """Start the server unless it runs."""
        with EmbeddedPostgres(self.server.home.parent, durable=False):
            pass


Crash = Callable[[Crashing], None]


@pytest.fixture(scope="module")
def crashing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crashing]:
    with EmbeddedPostgres(tmp_path_factory.mktemp("crashing"), durable=False) as server:
        found = Crashing(server, server.url())
        found.execute("alter system set wal_writer_delay = '10s'")
        found.execute("select pg_reload_conf()")
        upgrade(found.url)
        with running_service(found.url) as service:
            stock_shop(service)
        yield found


@pytest.fixture
def shop(crashing: Crashing) -> Iterator[Service]:
    with running_service(crashing.url) as service:
        yield service


@pytest.fixture
def customer(crashing: Crashing, shop: Service) -> Customer:
    made = shop.customer()
    shop.refresh()
    crashing.execute("checkpoint")  # what comes after it is what a crash may take
    return made


def burn_transaction_ids(crashing: Crashing) -> int:
    """Begin transactions and roll them back; the last one's id."""
    with psycopg.connect(crashing.url, autocommit=True) as connection:
        for _ in range(BURNT):
            connection.execute("begin")
            row = connection.execute("select pg_current_xact_id()::text::bigint").fetchone()
            connection.execute("rollback")
    assert row is not None
    return int(row[0])


def set_stock(crashing: Crashing, units: int) -> int:
    """Change every level; the id of the transaction that did."""
    found: int = crashing.execute(
        "with changed as (update stock_level set available = %s, changed_by = pg_current_xact_id() returning 1)"
        " select distinct pg_current_xact_id()::text::bigint from changed",
        units,
    )
    return found


def set_price(crashing: Crashing, cost: int) -> int:
    """Import a price; the version of all prices then."""

    async def load() -> None:
        async with Database(crashing.url) as database:
            rows = iter([Row(1, PriceRow("default", "PHONE", Decimal(cost)))])
            await import_and_commit(database, "price-list", rows, now=MORNING)

    asyncio.run(load())
    found: int = crashing.execute("select version from change where topic = 'prices'")
    return found


def power_failure(crashing: Crashing) -> None:
    """Shut the server down at once, and start it again."""
    postmaster = int((crashing.server.home / "data" / "postmaster.pid").read_text().split("\n", 1)[0])
    kill_server(postmaster, signal.SIGQUIT)
    crashing.start()


def killed_process(crashing: Crashing) -> None:
    """Kill one of the server's processes, whereupon it ends all others and recovers."""
    with psycopg.connect(crashing.url, autocommit=True) as connection:
        os.kill(connection.info.backend_pid, signal.SIGKILL)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("select pg_sleep(30)")
    crashing.start()


def health(service: Service) -> Any:
    return service.client().get("/check-health").json()


def catch_up(service: Service) -> None:
    """Let the service notice what has changed, once it has its connections back."""

    def caught_up() -> bool:
        try:
            service.refresh()
        except psycopg.OperationalError:
            return False
        return True

    wait_for(caught_up)


CRASHES = pytest.mark.parametrize("crash", [power_failure, killed_process])


@CRASHES
def test_stock_changed_after_a_crash_under_a_reused_transaction_id_is_read(
    crashing: Crashing, shop: Service, customer: Customer, crash: Crash
) -> None:
    burnt = burn_transaction_ids(crashing)
    shop.refresh()  # from now on it reads what comes after them
    crash(crashing)
    assert set_stock(crashing, 41) < burnt
    catch_up(shop)
    assert customer.get("/product/PHONE").json()["availability"]["available"] == 41


@CRASHES
def test_prices_with_a_version_number_reused_after_a_crash_are_read(
    crashing: Crashing, shop: Service, customer: Customer, crash: Crash
) -> None:
    lost = set_price(crashing, 60)
    shop.refresh()
    assert customer.get("/product/PHONE").json()["single_unit_cost"] == 60
    crash(crashing)
    assert set_price(crashing, 70 + lost) == lost
    catch_up(shop)
    assert customer.get("/product/PHONE").json()["single_unit_cost"] == 70 + lost


def test_an_unreadable_catalogue_is_not_verified_by_its_version(
    crashing: Crashing,
) -> None:
    often, soon = timedelta(seconds=0.05), timedelta(seconds=1)
    with running_service(crashing.url, refresh_interval=often, stale_after=soon) as service:
        customer = service.customer()
        wait_for(lambda: customer.get("/product").status_code == 200)
        crashing.execute("alter table attribute rename to mislaid")
        crashing.execute("checkpoint")
        killed_process(crashing)
        try:
            wait_for(lambda: health(service)["database"] == "ok" and health(service)["data_age"] > 2)
            assert customer.get("/product").status_code == 503
        finally:
            crashing.execute("alter table mislaid rename to attribute")
        wait_for(lambda: customer.get("/product").status_code == 200)


def test_a_service_whose_connection_broke_reads_all_stock_again(
    crashing: Crashing, shop: Service, customer: Customer
) -> None:
    before = customer.get("/product/PHONE").json()["availability"]["available"]
    long_ago = 3
    crashing.execute("update stock_level set available = %s, changed_by = %s::text::xid8", before + 1, long_ago)
    shop.refresh()
    assert customer.get("/product/PHONE").json()["availability"]["available"] == before
    crashing.execute("select count(pg_terminate_backend(pid)) from pg_stat_activity where pid <> pg_backend_pid()")
    catch_up(shop)
    assert customer.get("/product/PHONE").json()["availability"]["available"] == before + 1


def stopped_and_started(crashing: Crashing) -> None:
    """Restart the server, which loses nothing."""
    postmaster = int((crashing.server.home / "data" / "postmaster.pid").read_text().split("\n", 1)[0])
    kill_server(postmaster, signal.SIGINT)
    crashing.start()


@pytest.mark.parametrize("end", [power_failure, killed_process, stopped_and_started])
def test_versions_differ_after_a_restart_of_the_server(crashing: Crashing, end: Crash) -> None:
    async def server() -> str:
        async with Database(crashing.url, connections=1) as database, reading(database) as tx:
            return (await read_versions(tx)).server

    before = asyncio.run(server())
    assert asyncio.run(server()) == before
    end(crashing)
    assert asyncio.run(server()) != before


@pytest.mark.parametrize(("server", "is_seen"), [("the same", False), ("another", True)])
def test_a_change_of_server_reads_all_stock_again(crashing: Crashing, server: str, is_seen: bool) -> None:
    """A pooler keeps a client's connection when the server behind it is another one."""

    async def levels() -> tuple[int, int]:
        async with Database(crashing.url, connections=1) as database:
            async with reading(database) as tx:
                data, versions = await read_catalogue_data(tx), await read_versions(tx)
            await asyncio.to_thread(crashing.execute, "update stock_level set available = available + 1")
            async with reading(database) as tx:
                now = versions if server == "the same" else replace(versions, server=server)
                later = await with_stock(tx, data, now, from_the_start=False)
        return int(data.stock.available.sum()), int(later.stock.available.sum())

    crashing.execute("update stock_level set changed_by = '3'::xid8")
    before, after = asyncio.run(levels())
    assert (after > before) == is_seen
