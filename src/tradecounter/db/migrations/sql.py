"""Executes a migration's SQL verbatim: several statements per string; `%` and `:` are literal."""

from typing import LiteralString

import psycopg
from alembic import op


def run_sql(*texts: LiteralString | bytes) -> None:
    """Execute strings of SQL statements on the migration's connection."""
    connection = op.get_bind().connection.dbapi_connection
    if not isinstance(connection, psycopg.Connection):
        raise TypeError("migrations run on psycopg")
    for text in texts:
        connection.execute(text)
