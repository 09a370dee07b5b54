"""The processes of a machine share a large catalogue: one lays it out, and the others map its file."""

import os
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from support.service import Service
from support.shop import product
from tradecounter.db.freshness import Freshness
from tradecounter.db.refresher import Refresher
from tradecounter.storefront.load_shared import CatalogueSource
from tradecounter.storefront.storefront import Storefront
from tradecounter.storefront.view import CustomerView

SKU = "Shared/1"


class Process:
    """The storefront of a process that shares catalogues in a folder."""

    def __init__(self, service: Service, folder: Path) -> None:
        self.freshness = Freshness(timedelta(minutes=1))
        self.storefront = Storefront(
            service.clock, 5, CatalogueSource(service.database_url, folder), freshness=self.freshness, large_from=1
        )
        self.refresher = Refresher(
            service.application.database, (self.storefront,), timedelta(seconds=1), freshness=self.freshness
        )
        self._service = service

    def refresh(self) -> None:
        self._service.call(self.refresher.refresh)

    def name(self) -> str:
        """Return the name that the process shows for the product."""
        snapshot = self.storefront.snapshot
        return snapshot.product(snapshot.row_of_sku[SKU.casefold()]).name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "shared"


@pytest.fixture(scope="module", autouse=True)
def buyer(shop: Service) -> int:
    """A customer with a discount, for whom the product has a price."""
    shop.must_load("products", [product(SKU), product("Shared/2", description="Long " * 2000)])
    shop.must_load("price-list", [{"price_list": "default", "sku": SKU, "single_unit_cost": "10.00"}])
    return shop.customer(discount="12.50").id


def rename(shop: Service, name: str) -> None:
    shop.must_load("products", [{"sku": SKU, "name": name}])


def catalogues(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.suffix == ".catalogue"]


def mapped_catalogues(folder: Path) -> set[str]:
    """Return the catalogues that this process has in its memory, also deleted ones."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return {line.partition("/")[2] for line in lines if str(folder) in line and "r--s" in line}


def test_a_second_process_maps_what_the_first_has_laid_out(
    shop: Service, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename(shop, "Mapped")
    Process(shop, folder).refresh()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/nowhere/python")  # no subprocess can start
        second = Process(shop, folder)
        second.refresh()
    assert second.name() == "Mapped"
    assert len(mapped_catalogues(folder)) == 1


def test_the_prices_of_the_customers_profiles_are_shared(shop: Service, folder: Path, buyer: int) -> None:
    process = Process(shop, folder)
    process.refresh()
    view = process.storefront.last_view(buyer)
    assert isinstance(view, CustomerView)
    assert not view.prices.shared.costs.flags.owndata
    row = view.snapshot.row_of_sku[SKU.casefold()]
    assert view.prices.shared.costs[row].tolist() == [875, 875, 875]


def test_processes_that_start_together_lay_a_catalogue_out_once(shop: Service, folder: Path) -> None:
    processes = [Process(shop, folder) for _ in range(3)]

    async def refresh_together() -> None:
        assert all([await process.refresher.catch_up() for process in processes])
        for process in processes:
            await process.refresher.refresh()

    shop.call(refresh_together)
    assert len(mapped_catalogues(folder)) == 1  # a second one would have replaced the first, which is still mapped


def test_a_new_catalogue_replaces_the_file_and_the_old_one_stays_readable(shop: Service, folder: Path) -> None:
    rename(shop, "Before")
    process, other = Process(shop, folder), Process(shop, folder)
    process.refresh()
    other.refresh()
    (before,) = catalogues(folder)
    rename(shop, "After")
    process.refresh()
    (after,) = catalogues(folder)
    assert after != before
    assert (process.name(), other.name()) == ("After", "Before")
    other.refresh()
    assert other.name() == "After"


def test_the_file_and_its_folder_are_private(shop: Service, folder: Path) -> None:
    Process(shop, folder).refresh()
    modes = {path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert (folder.stat().st_mode & 0o777, modes) == (0o700, {0o600})


def test_a_folder_open_to_others_is_not_used(shop: Service, folder: Path) -> None:
    rename(shop, "Not shared")
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    process = Process(shop, folder)
    process.refresh()
    assert process.name() == "Not shared"
    assert not list(folder.iterdir())


def test_a_file_open_to_others_is_not_used(shop: Service, folder: Path) -> None:
    rename(shop, "In a private file")
    Process(shop, folder).refresh()
    (name,) = catalogues(folder)
    (folder / name).write_bytes(b"made by somebody else")
    (folder / name).chmod(0o666)
    process = Process(shop, folder)
    process.refresh()
    assert process.name() == "In a private file"
    assert ((folder / name).stat().st_mode & 0o777) == 0o600


def test_a_file_that_cannot_be_read_is_replaced(shop: Service, folder: Path) -> None:
    rename(shop, "Whole")
    Process(shop, folder).refresh()
    (name,) = catalogues(folder)
    os.truncate(folder / name, 4096)
    process = Process(shop, folder)
    process.refresh()
    assert process.name() == "Whole"
    assert (folder / name).stat().st_size > 4096
