"""Running SQL text in a migration as it stands: several statements at once, `%` and `:` meaning nothing."""

from typing import LiteralString

import psycopg
from alembic import op


def run_sql(text: LiteralString) -> None:
    """Run statements on the connection of the migration."""
    connection = op.get_bind().connection.dbapi_connection
    if not isinstance(connection, psycopg.Connection):
        raise TypeError("migrations run on psycopg")
    connection.execute(text)
