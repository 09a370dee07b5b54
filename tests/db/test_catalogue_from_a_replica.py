"""A large catalogue is read from a replica only while the replica has what the primary has committed."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from support.replica import Replica, Server, streaming_pair
from support.service import Service, running_service
from support.shop import product, stock_shop
from support.waiting import wait_for
from tradecounter.db.migrate import upgrade
from tradecounter.db.pool import Database
from tradecounter.db.refresher import Freshness, Refresher
from tradecounter.db.replicas import ReplicaError, read_position, require_replayed
from tradecounter.db.transaction import reading
from tradecounter.prices.rules import UnitCosts
from tradecounter.storefront.load_shared import CatalogueSource
from tradecounter.storefront.storefront import Storefront

pytestmark = pytest.mark.long

SKU = "Replicated/1"
UNUSABLE = "the replica cannot be used: the catalogue is read from the primary"
USABLE = "the replica can be used again"


class Process:
    """The storefront of a process that reads catalogues from a replica."""

    def __init__(self, service: Service, folder: Path, replica_url: str) -> None:
        self.source = CatalogueSource(service.database_url, folder, replica_url)
        freshness, database = Freshness(), service.application.database
        self.storefront = Storefront(service.clock, 5, self.source, freshness=freshness, large_from=1)
        self.refresher = Refresher(
            database, (self.storefront,), timedelta(seconds=1), freshness=freshness, shared=database
        )
        self._service = service

    @property
    def reads(self) -> tuple[int, int]:
        """How often the replica was used, and how often it was not usable."""
        return self.source.replica_use.used, self.source.replica_use.unusable

    def refresh(self) -> list[str]:
        """Refresh; return why the replica cannot be used, or that it can be again, if that was logged."""
        with capture_logs() as logs:
            self._service.call(self.refresher.refresh)
        return [line.get("reason", line["event"]) for line in logs if line["event"] in {UNUSABLE, USABLE}]

    def name(self) -> str:
        snapshot = self.storefront.snapshot
        return snapshot.product(snapshot.row_of_sku[SKU.casefold()]).name


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Replica]]:
    with streaming_pair(tmp_path_factory.mktemp("pair")) as found:
        upgrade(found[0].url)
        yield found


@pytest.fixture(scope="module")
def primary(servers: tuple[Server, Replica]) -> Server:
    return servers[0]


@pytest.fixture
def replica(servers: tuple[Server, Replica]) -> Replica:
    return servers[1]


@pytest.fixture(scope="module")
def shop(primary: Server) -> Iterator[Service]:
    with running_service(primary.url) as service:
        stock_shop(service)
        service.must_load("products", [product(SKU)])
        service.must_load("price-list", [{"price_list": "default", "sku": SKU, "single_unit_cost": "10.00"}])
        yield service


@pytest.fixture
def process(shop: Service, replica: Replica, tmp_path: Path) -> Process:
    return Process(shop, tmp_path / "shared", replica.url)


def rename(shop: Service, name: str) -> None:
    shop.must_load("products", [{"sku": SKU, "name": name}])


def test_a_large_catalogue_is_read_from_the_replica_and_later_changes_from_the_primary(
    shop: Service, replica: Replica, process: Process
) -> None:
    customer = shop.customer()
    rename(shop, "From the replica")
    before = replica.scans("price")
    assert process.refresh() == []
    assert (process.name(), process.reads) == ("From the replica", (1, 0))
    wait_for(lambda: replica.scans("price") > before)
    assert not shop.call(process.refresher.catch_up)  # it counts as current
    snapshot = process.storefront.snapshot
    replica.pause()
    shop.must_load("price-list", [{"price_list": "default", "sku": SKU, "single_unit_cost": "77.00"}])
    shop.must_load("stock", [{"sku": SKU, "available": 123}])
    process.refresh()
    replica.resume()
    view = process.storefront.last_view(customer.id)
    assert view is not None
    row = snapshot.row_of_sku[SKU.casefold()]
    assert (view.available(row), view.unit_costs(row)) == (123, UnitCosts(7700, 7700, 7700))
    assert view.snapshot is snapshot
    assert process.reads == (1, 0)


def test_a_replica_that_has_not_replayed_the_catalogue_is_not_read(
    shop: Service, replica: Replica, process: Process
) -> None:
    process.refresh()
    replica.pause()
    rename(shop, "Ahead of the replica")
    (reason,) = process.refresh()
    assert reason.startswith("it has version")
    assert process.name() == "Ahead of the replica"
    rename(shop, "Further ahead")
    assert process.refresh() == []  # it is logged once
    assert (process.name(), process.reads) == ("Further ahead", (1, 2))
    replica.resume()
    rename(shop, "With the replica")
    assert process.refresh() == [USABLE]
    assert (process.name(), process.reads) == ("With the replica", (2, 2))


def test_a_replica_that_is_a_little_behind_is_waited_for(shop: Service, replica: Replica, process: Process) -> None:
    replica.pause()
    rename(shop, "A little later")

    async def look() -> set[asyncio.Task[Any]]:
        return await process.refresher.catch_up()

    (loading,) = shop.call(look)
    wait_for(lambda: replica.ask("select count(*) from pg_stat_activity where usename = 'tradecounter'") > 0)
    assert not loading.done()
    replica.resume()
    process.refresh()
    assert (process.name(), process.reads) == ("A little later", (1, 0))


def test_a_stopped_replica_is_not_needed(shop: Service, replica: Replica, process: Process) -> None:
    replica.stop()
    try:
        rename(shop, "Without the replica")
        (reason,) = process.refresh()
    finally:
        replica.start()
    assert "No such file" in reason
    assert (process.name(), process.reads) == ("Without the replica", (0, 1))


def test_a_hanging_replica_is_not_waited_for_long(shop: Service, replica: Replica, process: Process) -> None:
    rename(shop, "Past the replica")
    with replica.hanging():
        (reason,) = process.refresh()
    assert "timeout" in reason
    assert (process.name(), process.reads) == ("Past the replica", (0, 1))


def test_the_log_does_not_show_the_password_of_an_invalid_url(shop: Service, tmp_path: Path) -> None:
    process = Process(shop, tmp_path / "shared", "postgresql://reader:hidden word@replica:port/shop")
    assert process.refresh() == ["TRADECOUNTER_REPLICA_URL: is not a valid PostgreSQL URL"]


def test_only_a_server_that_replays_the_primarys_log_is_its_replica(tmp_path: Path, database_url: str) -> None:
    with streaming_pair(tmp_path) as (former, promoted):
        for table in ("create table change (topic text, version int)", "insert into change values ('catalogue', 1)"):
            former.run(table)
        wait_for(lambda: promoted.ask("select to_regclass('change') is not null"))
        assert why_not(promoted.url, former.url) is None
        assert promoted.ask("select pg_promote()")
        assert why_not(promoted.url, promoted.url) is None  # where the replica's address leads to the primary
        assert why_not(former.url, promoted.url) == "it is not a replica, but another primary"
        former.become_replica()
        assert why_not(former.url, promoted.url) == "it is on timeline 1, and the primary on 2"
        assert why_not(database_url, promoted.url) == "it is not a replica of the database"


def why_not(replica_url: str, primary_url: str) -> str | None:
    """Why a server is not a replica of another one that has all of its catalogue."""

    async def look() -> str | None:
        async with Database(primary_url, connections=1) as primary, reading(primary) as tx:
            position = await read_position(tx)
        async with Database(replica_url, connections=1) as replica, reading(replica) as tx:
            try:
                await require_replayed(tx, position, "catalogue")
            except ReplicaError as error:
                return str(error)
        return None

    return asyncio.run(look())
