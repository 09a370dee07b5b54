"""Processes of a machine take turns to show what has changed."""

import asyncio
import math
from pathlib import Path

from tradecounter.storefront.load_shared import CatalogueSource, Turn

URL = "postgresql://shop@database.example/shop"


def turn(folder: Path, at_once: int = 1, url: str = URL, stale_after: float = math.inf) -> Turn:
    return Turn(CatalogueSource(url, folder, at_once=at_once), stale_after)


async def taken(turn: Turn) -> None:
    """Wait for the turn, as the refresher does."""
    while not turn.take():
        await asyncio.wait({turn.wait()})


def most_at_once(*turns: Turn) -> int:
    """The largest number of processes that had their turn at the same time."""
    inside, most = 0, 0

    async def take(each: Turn) -> None:
        nonlocal inside, most
        await taken(each)
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.02)
        inside -= 1
        each.end()

    async def take_all() -> None:
        await asyncio.gather(*(take(each) for each in turns))

    asyncio.run(take_all())
    return most


def test_one_process_after_the_other_takes_its_turn(tmp_path: Path) -> None:
    assert most_at_once(*(turn(tmp_path) for _ in range(3))) == 1


def test_several_take_their_turn_at_once_where_there_are_several_processors(tmp_path: Path) -> None:
    assert most_at_once(*(turn(tmp_path, at_once=2) for _ in range(4))) == 2


def test_processes_of_another_database_do_not_wait(tmp_path: Path) -> None:
    assert most_at_once(turn(tmp_path), turn(tmp_path, url=f"{URL}2")) == 2


def test_a_process_that_never_ends_its_turn_delays_the_others_for_a_part_of_the_time_until_they_are_stale(
    tmp_path: Path,
) -> None:
    async def take_beside_a_stuck_one() -> bool:
        stuck, other = turn(tmp_path), turn(tmp_path, stale_after=1)
        await taken(stuck)
        waited = not other.take()
        await asyncio.wait_for(taken(other), 20)
        stuck.end()
        return waited

    assert asyncio.run(take_beside_a_stuck_one())


def test_nobody_waits_without_a_folder_of_ones_own(tmp_path: Path) -> None:
    place = tmp_path / "open"
    place.mkdir(mode=0o755)
    place.chmod(0o755)
    assert most_at_once(turn(place), turn(place)) == 2
