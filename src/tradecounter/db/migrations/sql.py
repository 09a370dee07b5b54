"""Runs a migration's SQL as it is written: several statements at once, `%` and `:` without a meaning."""

from typing import LiteralString

import psycopg
from alembic import op


def run_sql(*texts: LiteralString) -> None:
    """Run texts of statements on the connection of the migration."""
    connection = op.get_bind().connection.dbapi_connection
    if not isinstance(connection, psycopg.Connection):
        raise TypeError("migrations run on psycopg")
    for text in texts:
        connection.execute(text)
