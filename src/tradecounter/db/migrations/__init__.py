"""Alembic migrations, written in SQL."""
