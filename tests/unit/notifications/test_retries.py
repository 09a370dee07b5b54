"""When mail is tried again: soon, then more and more seldom, and for what passes without end."""

import asyncio
from datetime import timedelta

import psycopg
import pytest
from psycopg_pool import PoolTimeout

from tradecounter.notifications.jobs import trouble_of
from tradecounter.notifications.letters import NothingToTell
from tradecounter.notifications.post import Delayed, Refused
from tradecounter.notifications.rules import Trouble, next_attempt


def test_the_wait_doubles_up_to_an_hour() -> None:
    waits = [next_attempt(Trouble.PASSING, retries) for retries in range(11)]
    seconds = [0 if wait is None else wait.total_seconds() for wait in waits]
    assert seconds == [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]


@pytest.mark.parametrize("retries", [100, 10_000, 10**9])
def test_what_passes_is_never_given_up(retries: int) -> None:
    assert next_attempt(Trouble.PASSING, retries) == timedelta(hours=1)


@pytest.mark.parametrize(("trouble", "most"), [(Trouble.REFUSED, 4), (Trouble.UNEXPECTED, 10), (Trouble.HOPELESS, 0)])
def test_the_rest_is_given_up(trouble: Trouble, most: int) -> None:
    assert all(next_attempt(trouble, retries) is not None for retries in range(most))
    assert next_attempt(trouble, most) is None
    assert next_attempt(trouble, most + 1) is None


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        (Delayed("busy"), Trouble.PASSING),
        (psycopg.OperationalError(), Trouble.PASSING),
        (PoolTimeout(), Trouble.PASSING),
        (asyncio.CancelledError(), Trouble.PASSING),
        (Refused("no"), Trouble.REFUSED),
        (NothingToTell("gone"), Trouble.HOPELESS),
        (ZeroDivisionError(), Trouble.UNEXPECTED),
    ],
)
def test_an_error_is_known_for_what_it_is(error: BaseException, trouble: Trouble) -> None:
    assert trouble_of(error) is trouble
