"""Frequent events take few log lines, and every event is counted."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.contextvars import bound_contextvars, merge_contextvars
from structlog.testing import capture_logs

from tradecounter.edge.server.counted_log import CountedLog


def lines_of(addresses: list[str], seconds: float = 0.01) -> list[Any]:
    """Return the log lines for simultaneous events, one from each address, and the later lines."""

    async def log_all() -> list[Any]:
        with capture_logs() as logs:
            counted = CountedLog("rejected", seconds)
            for address in addresses:
                counted.add(address=address, prefix=None)
            await asyncio.sleep(seconds * 5)
        return logs

    return asyncio.run(log_all())


def test_a_single_event_is_logged_as_one_line() -> None:
    assert lines_of(["a"]) == [{"event": "rejected", "log_level": "warning", "address": "a"}]


def test_further_events_are_counted_and_the_most_frequent_are_listed() -> None:
    _, summary = lines_of(["a", *"bbbcc"])
    assert summary == {
        "event": "rejected, more",
        "log_level": "warning",
        "count": 5,
        "seconds": 0.01,
        "most": [{"address": "b", "count": 3}, {"address": "c", "count": 2}],
    }


@pytest.mark.sweep
@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 3000).map(str), min_size=2, max_size=3000))
def test_the_logged_counts_add_up_to_all_events(addresses: list[str]) -> None:
    _, summary = lines_of(addresses)
    assert summary["count"] == len(addresses) - 1
    assert len(summary["most"]) <= 10


def test_a_count_is_logged_without_a_request_id() -> None:
    async def log_in_a_request() -> list[Any]:
        with capture_logs(processors=[merge_contextvars]) as logs:
            counted = CountedLog("rejected", 0.01)
            with bound_contextvars(request_id="mine"):
                counted.add(address="a")
                counted.add(address="a")
            await asyncio.sleep(0.05)
        return logs

    first, summary = asyncio.run(log_in_a_request())
    assert first["request_id"] == "mine"
    assert "request_id" not in summary


def test_the_first_event_after_a_quiet_period_is_logged_immediately() -> None:
    async def log_apart() -> list[str]:
        with capture_logs() as logs:
            counted = CountedLog("rejected", 0.01)
            for _ in range(3):
                counted.add(address="a")
            await asyncio.sleep(0.06)
            counted.add(address="a")
            return [line["event"] for line in logs]

    assert asyncio.run(log_apart()) == ["rejected", "rejected, more", "rejected"]
