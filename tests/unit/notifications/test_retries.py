"""Retries of e-mails: at growing intervals, and without limit after transient failures."""

import asyncio
import math
from datetime import timedelta

import psycopg
import pytest
from psycopg_pool import PoolTimeout

from tradecounter.notifications.context import NothingToSend
from tradecounter.notifications.jobs import most_retries
from tradecounter.notifications.rules import next_attempt
from tradecounter.notifications.transport import Delayed, Rejected


def test_the_wait_doubles_up_to_an_hour() -> None:
    waits = [next_attempt(retries, math.inf) for retries in range(11)]
    seconds = [0 if wait is None else wait.total_seconds() for wait in waits]
    assert seconds == [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]


@pytest.mark.parametrize("retries", [100, 10_000, 10**9])
def test_transient_failures_are_retried_forever(retries: int) -> None:
    assert next_attempt(retries, math.inf) == timedelta(hours=1)


@pytest.mark.parametrize("most", [0, 4, 10])
def test_other_failures_are_given_up_after_some_attempts(most: int) -> None:
    assert all(next_attempt(retries, most) is not None for retries in range(most))
    assert next_attempt(most, most) is None
    assert next_attempt(most + 1, most) is None


@pytest.mark.parametrize(
    ("error", "most"),
    [
        (Delayed("busy"), math.inf),
        (psycopg.OperationalError(), math.inf),
        (PoolTimeout(), math.inf),
        (asyncio.CancelledError(), math.inf),
        (Rejected("no"), 4),
        (NothingToSend("gone"), 0),
        (ZeroDivisionError(), 10),
    ],
)
def test_what_may_pass_is_tried_longer(error: BaseException, most: float) -> None:
    assert most_retries(error) == most
