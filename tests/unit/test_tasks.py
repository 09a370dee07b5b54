"""Background tasks end."""

import asyncio

import pytest

from tradecounter.kit.tasks import end_task


def test_a_task_that_loses_a_cancellation_to_another_error_ends_all_the_same() -> None:
    lost: list[asyncio.CancelledError] = []

    async def survive_errors() -> None:
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError as error:
                if lost:
                    raise
                lost.append(error)

    async def main() -> None:
        task = asyncio.create_task(survive_errors())
        await asyncio.sleep(0)
        await asyncio.wait_for(end_task(task), timeout=30)
        assert task.cancelled()

    asyncio.run(main())
    assert len(lost) == 1


def test_the_error_of_a_task_that_failed_is_raised() -> None:
    async def fail() -> None:
        raise ValueError("failed")

    async def main() -> None:
        task = asyncio.create_task(fail())
        await asyncio.sleep(0)
        await end_task(task)

    with pytest.raises(ValueError, match="failed"):
        asyncio.run(main())
