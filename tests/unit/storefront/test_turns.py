"""Processes of a machine take turns to show what has changed."""

import asyncio
from pathlib import Path

from tradecounter.storefront.load_shared import CatalogueSource

URL = "postgresql://shop@database.example/shop"


def source(folder: Path, at_once: int = 1, url: str = URL) -> CatalogueSource:
    return CatalogueSource(url, folder, at_once=at_once)


def most_at_once(*sources: CatalogueSource) -> int:
    """The largest number of the sources that were in their turn at the same time."""
    inside, most = 0, 0

    async def take(each: CatalogueSource) -> None:
        nonlocal inside, most
        async with each.turn():
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.02)
            inside -= 1

    async def take_all() -> None:
        await asyncio.gather(*(take(each) for each in sources))

    asyncio.run(take_all())
    return most


def test_one_process_after_the_other_takes_its_turn(tmp_path: Path) -> None:
    assert most_at_once(source(tmp_path), source(tmp_path), source(tmp_path)) == 1


def test_several_take_their_turn_at_once_where_there_are_several_processors(tmp_path: Path) -> None:
    assert most_at_once(*(source(tmp_path, at_once=2) for _ in range(4))) == 2


def test_processes_of_another_database_do_not_wait(tmp_path: Path) -> None:
    assert most_at_once(source(tmp_path), source(tmp_path, url=f"{URL}2")) == 2


def test_a_process_that_never_ends_its_turn_delays_the_others_for_seconds_only(tmp_path: Path) -> None:
    async def take_beside_a_stuck_one() -> None:
        async with source(tmp_path).turn(), source(tmp_path).turn():
            pass

    asyncio.run(asyncio.wait_for(take_beside_a_stuck_one(), 20))


def test_nobody_waits_without_a_folder_of_ones_own(tmp_path: Path) -> None:
    place = tmp_path / "open"
    place.mkdir(mode=0o755)
    place.chmod(0o755)
    assert most_at_once(source(place), source(place)) == 2
