"""When mail is tried again: soon, then more and more seldom, and for what passes without end."""

import asyncio
from datetime import timedelta

import psycopg
import pytest
from psycopg_pool import PoolTimeout

from tradecounter.notifications.context import NothingToSend
from tradecounter.notifications.jobs import failure_kind
from tradecounter.notifications.rules import FailureKind, next_attempt
from tradecounter.notifications.transport import Delayed, Rejected


def test_the_wait_doubles_up_to_an_hour() -> None:
    waits = [next_attempt(FailureKind.TRANSIENT, retries) for retries in range(11)]
    seconds = [0 if wait is None else wait.total_seconds() for wait in waits]
    assert seconds == [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]


@pytest.mark.parametrize("retries", [100, 10_000, 10**9])
def test_what_passes_is_never_given_up(retries: int) -> None:
    assert next_attempt(FailureKind.TRANSIENT, retries) == timedelta(hours=1)


@pytest.mark.parametrize(
    ("kind", "most"), [(FailureKind.REJECTED, 4), (FailureKind.UNEXPECTED, 10), (FailureKind.POINTLESS, 0)]
)
def test_the_rest_is_given_up(kind: FailureKind, most: int) -> None:
    assert all(next_attempt(kind, retries) is not None for retries in range(most))
    assert next_attempt(kind, most) is None
    assert next_attempt(kind, most + 1) is None


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (Delayed("busy"), FailureKind.TRANSIENT),
        (psycopg.OperationalError(), FailureKind.TRANSIENT),
        (PoolTimeout(), FailureKind.TRANSIENT),
        (asyncio.CancelledError(), FailureKind.TRANSIENT),
        (Rejected("no"), FailureKind.REJECTED),
        (NothingToSend("gone"), FailureKind.POINTLESS),
        (ZeroDivisionError(), FailureKind.UNEXPECTED),
    ],
)
def test_an_error_is_known_for_what_it_is(error: BaseException, kind: FailureKind) -> None:
    assert failure_kind(error) is kind
