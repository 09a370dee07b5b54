"""The job queue without notifications; an index by which a customer's pending orders are counted.

Revision ID: 0008
Revises: 0007
"""

from tradecounter.db.migrations.sql import run_sql

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

# A transaction that notifies commits under a lock of the whole server.
QUEUE = """
alter table procrastinate_jobs disable trigger procrastinate_jobs_notify_queue_job_inserted_v1;
"""

CAPS = """
drop index orders_by_customer_reference;
create index orders_by_customer_reference on orders (customer_id, state, customer_reference)
    where state in ('pending', 'confirmed');
"""


def upgrade() -> None:
    """Disable the trigger that notifies of new jobs, since the worker polls; let an index find pending orders."""
    run_sql(QUEUE)
    run_sql(CAPS)
