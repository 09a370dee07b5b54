"""The back office loads the catalogue when somebody first needs it; meanwhile it is healthy, and others wait too."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from support.service import Service
from tradecounter.db.pool import Database
from tradecounter.db.refresher import Freshness, Refresher
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.sites.back_office import LoadOnDemand, ViewsOnDemand
from tradecounter.storefront.load_shared import CatalogueSource
from tradecounter.storefront.storefront import Storefront


def with_views(service: Service, folder: Path, use: Callable[[ViewsOnDemand], Awaitable[None]]) -> None:
    """Use the views of a new process, for which every catalogue is large."""

    async def run() -> None:
        freshness = Freshness(timedelta(minutes=1))
        source = CatalogueSource(service.database_url, folder)
        storefront = Storefront(service.clock, 5, source, freshness=freshness, large_from=1)
        loading = LoadOnDemand(storefront)
        async with Database(service.database_url, connections=1, for_requests=True) as database:
            refresher = Refresher(
                database, (loading,), timedelta(milliseconds=20), freshness=freshness, shared=database
            )
            async with refresher.running():
                await use(ViewsOnDemand(storefront, refresher, freshness, loading))

    asyncio.run(run())


@pytest.mark.long
def test_requests_during_the_first_load_wait_for_it_and_nothing_is_outdated(shop: Service, tmp_path: Path) -> None:
    async def load_twice(views: ViewsOnDemand) -> None:
        first = asyncio.create_task(views.snapshot())
        await asyncio.sleep(0.1)
        second = asyncio.create_task(views.snapshot())
        while not first.done():
            assert not views.freshness.is_stale
            await asyncio.sleep(0.01)
        assert len(await first) == len(await second) > 0

    with_views(shop, tmp_path, load_twice)


def test_a_first_load_that_fails_is_an_error_and_not_an_empty_catalogue(shop: Service, tmp_path: Path) -> None:
    async def load_while_locked(views: ViewsOnDemand) -> None:
        with psycopg.connect(shop.database_url) as blocker:
            blocker.execute("lock table product in access exclusive mode")
            with pytest.raises(DomainError) as caught:
                await views.snapshot()
            assert caught.value.kind is Kind.UNAVAILABLE
            assert not views.freshness.is_stale

    with_views(shop, tmp_path, load_while_locked)
