"""Retries of e-mails: at growing intervals, and without limit after transient failures."""

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
def test_transient_failures_are_retried_forever(retries: int) -> None:
    assert next_attempt(FailureKind.TRANSIENT, retries) == timedelta(hours=1)


@pytest.mark.parametrize(
    ("kind", "most"), [(FailureKind.REJECTED, 4), (FailureKind.UNEXPECTED, 10), (FailureKind.POINTLESS, 0)]
)
def test_other_failures_are_given_up_after_some_attempts(kind: FailureKind, most: int) -> None:
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
def test_errors_are_classified(error: BaseException, kind: FailureKind) -> None:
    assert failure_kind(error) is kind
