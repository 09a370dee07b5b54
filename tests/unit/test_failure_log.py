"""What periodic work logs of its failures."""

import psycopg
import pytest
from procrastinate.exceptions import ConnectorException
from psycopg.errors import QueryCanceled, ReadOnlySqlTransaction
from psycopg_pool import PoolTimeout
from structlog.testing import capture_logs

from tradecounter.db.pool import FailureLog


def lost_by_the_queue() -> ConnectorException:
    """An error of the queue's library, which has the database's as its cause."""
    error = ConnectorException("the connector failed")
    error.__cause__ = psycopg.OperationalError("gone\n")
    return error


AWAY = [psycopg.OperationalError("gone\n"), PoolTimeout("gone"), ReadOnlySqlTransaction("gone"), lost_by_the_queue()]


@pytest.mark.parametrize("error", AWAY)
def test_that_the_database_is_away_is_logged_once_for_a_while_without_a_traceback(error: Exception) -> None:
    failures = FailureLog("work waits")
    with capture_logs() as logs:
        failures.add(error)
        failures.add(error)
    assert logs == [{"event": "work waits", "log_level": "warning", "exc_info": None, "reason": "gone"}]


@pytest.mark.parametrize("error", [ValueError("wrong"), QueryCanceled("wrong")])
def test_every_other_failure_is_logged_with_its_traceback(error: Exception) -> None:
    failures = FailureLog("work waits")
    with capture_logs() as logs:
        failures.add(error)
        failures.add(error)
    assert logs == 2 * [{"event": "work waits", "log_level": "warning", "exc_info": error, "reason": "wrong"}]
