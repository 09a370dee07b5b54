"""Alembic's entry: runs the revisions, in one transaction, on the connection that `db/migrate.py` passes."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
