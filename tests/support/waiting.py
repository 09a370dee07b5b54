"""Waiting until a statement of the service waits for a lock that the test holds."""

import psycopg


def waiting_for_a_lock(database_url: str, *, processes: int = 1) -> int:
    """A server process that waits for a lock, as soon as that many of them do."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        for _ in range(3000):
            found = connection.execute(
                "select pid, pg_sleep(0.01) from pg_stat_activity"
                " where datname = current_database() and wait_event_type = 'Lock'"
            ).fetchall()
            if len(found) >= processes:
                return int(found[0][0])
            connection.execute("select pg_sleep(0.01)")
    raise AssertionError("nothing waits for a lock")


def break_connection(database_url: str, process: int) -> None:
    """Break the connection that a server process serves."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("select pg_terminate_backend(%s)", [process])
