"""Alembic's entry point: runs all revisions in one transaction on the connection from `db/migrate.py`."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
