"""The processes of a machine share a large catalogue: one lays it out, and the others map its file."""

import os
import sys
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from support.service import Service
from support.shop import product
from tradecounter.db.changes import Version, read_versions
from tradecounter.db.refresher import Freshness, Refresher
from tradecounter.db.transaction import reading
from tradecounter.storefront.load_shared import CatalogueSource
from tradecounter.storefront.shared_folder import SharedFolder, write_data
from tradecounter.storefront.storefront import Storefront
from tradecounter.storefront.view import CustomerView

pytestmark = pytest.mark.long

SKU = "Shared/1"
NOT_SHARED = "the catalogue cannot be shared: each process needs memory for its own"


class Process:
    """The storefront of a process that shares catalogues in a folder."""

    def __init__(self, service: Service, folder: Path, *, large_from: int = 1) -> None:
        self.freshness = Freshness(timedelta(minutes=1))
        self.storefront = Storefront(
            service.clock,
            5,
            CatalogueSource(service.database_url, folder),
            freshness=self.freshness,
            large_from=large_from,
        )
        database = service.application.database
        self.refresher = Refresher(
            database, (self.storefront,), timedelta(seconds=1), freshness=self.freshness, shared=database
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


def current_version(shop: Service) -> Version:
    async def read() -> Version:
        async with reading(shop.application.database) as tx:
            return (await read_versions(tx)).of("catalogue")

    return shop.call(read)


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


def open_to_others(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)


def a_link(folder: Path) -> None:
    folder.with_name("elsewhere").mkdir(mode=0o700)
    folder.symlink_to(folder.with_name("elsewhere"))


def a_file(folder: Path) -> None:
    folder.touch()


@pytest.mark.parametrize("unusable", [open_to_others, a_link, a_file])
def test_without_a_usable_folder_a_process_has_a_catalogue_of_its_own(
    shop: Service, folder: Path, monkeypatch: pytest.MonkeyPatch, unusable: Callable[[Path], None]
) -> None:
    rename(shop, f"Not shared: {unusable.__name__}")
    unusable(folder)
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")  # temporary files cannot be created either
    process = Process(shop, folder)
    with capture_logs() as logs:
        process.refresh()
    assert process.name() == f"Not shared: {unusable.__name__}"
    assert not any(path.is_file() and path.stat().st_size for path in folder.parent.rglob("*"))
    assert [line["log_level"] for line in logs if line["event"] == NOT_SHARED] == ["warning"]


def test_on_a_full_disk_a_process_has_a_catalogue_of_its_own(
    shop: Service, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename(shop, "On a full disk")
    full = tmp_path / "python"  # files in the folder become the device that is always full
    full.write_text(f"""#!/bin/sh
case $(readlink /proc/$$/fd/1) in {folder}/*) exec {sys.executable} "$@" > /dev/full;; esac
exec {sys.executable} "$@"
""")
    full.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(full))
    process = Process(shop, folder)
    with capture_logs() as logs:
        process.refresh()
    assert process.name() == "On a full disk"
    (warning,) = [line for line in logs if line["event"] == NOT_SHARED]
    assert "No space left on device" in warning["reason"]
    assert [path.suffix for path in folder.iterdir()] == [".lock"]


def test_a_small_catalogue_needs_neither_folder_nor_subprocess(
    shop: Service, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename(shop, "Small")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    process = Process(shop, folder, large_from=5000)
    with capture_logs() as logs:
        process.refresh()
    assert process.name() == "Small"
    assert not folder.exists()
    assert logs == []


class Harmful:
    """Unpickling it creates a folder."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.place),)


def test_a_file_that_others_can_write_is_not_unpickled(shop: Service, folder: Path, tmp_path: Path) -> None:
    rename(shop, "In a private file")
    Process(shop, folder).refresh()
    (name,) = catalogues(folder)
    harm = tmp_path / "harm"

    def refreshed_from(mode: int) -> bool:
        """Put a harmful file with this mode into its place; return whether it was unpickled."""
        with (folder / name).open("wb") as file:
            write_data(Harmful(harm), file)  # type: ignore[arg-type]
        (folder / name).chmod(mode)
        process = Process(shop, folder)
        process.refresh()
        assert process.name() == "In a private file"
        assert (folder / name).stat().st_mode & 0o777 == 0o600
        return harm.exists()

    assert not any(refreshed_from(mode) for mode in (0o620, 0o602, 0o640, 0o604))
    assert refreshed_from(0o600)  # so the file was harmful


def test_a_link_to_a_file_is_not_followed(shop: Service, folder: Path) -> None:
    Process(shop, folder).refresh()
    (name,) = catalogues(folder)
    (folder / name).rename(folder / "other")
    (folder / name).symlink_to(folder / "other")
    with SharedFolder.open(folder, shop.database_url) as opened, pytest.raises(OSError, match="symbolic link"):
        opened.newest(current_version(shop))


def test_another_users_file_is_not_opened(shop: Service, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Process(shop, folder).refresh()
    wanted = current_version(shop)
    owner = os.geteuid()
    with SharedFolder.open(folder, shop.database_url) as opened:
        with monkeypatch.context() as patch:
            patch.setattr(os, "geteuid", lambda: owner + 1)  # so all files are another user's
            with pytest.raises(PermissionError, match="another user"):
                opened.newest(wanted)
            with pytest.raises(PermissionError, match="another user"):
                SharedFolder.open(folder, shop.database_url)
        file = opened.newest(wanted)
        assert file is not None
        file.close()


def test_the_open_folder_is_used_whatever_takes_its_place(shop: Service, folder: Path) -> None:
    Process(shop, folder).refresh()
    with SharedFolder.open(folder, shop.database_url) as opened:
        folder.rename(folder.with_name("away"))
        folder.mkdir(mode=0o700)
        file = opened.newest(current_version(shop))
        assert file is not None
        file.close()


def test_a_file_that_cannot_be_read_is_replaced(shop: Service, folder: Path) -> None:
    rename(shop, "Whole")
    Process(shop, folder).refresh()
    (name,) = catalogues(folder)
    os.truncate(folder / name, 4096)
    process = Process(shop, folder)
    process.refresh()
    assert process.name() == "Whole"
    assert (folder / name).stat().st_size > 4096
