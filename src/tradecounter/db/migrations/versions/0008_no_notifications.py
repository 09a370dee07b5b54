"""The job queue without notifications: a transaction that notifies commits under a lock of the whole server.

Revision ID: 0008
Revises: 0007
"""

from tradecounter.db.migrations.sql import run_sql

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

QUEUE = """
alter table procrastinate_jobs disable trigger procrastinate_jobs_notify_queue_job_inserted_v1;
"""


def upgrade() -> None:
    """Disable the trigger that notifies of new jobs; the worker polls."""
    run_sql(QUEUE)
