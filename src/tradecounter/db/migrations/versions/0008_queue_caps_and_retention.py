"""The job queue without notifications; counting a customer's pending orders; which quotes support was told of.

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

# A customer's pending orders are counted for each new one. The worker looks through this index for those to expire.
# A second index of pending orders, by time, would be preferred for the count where few customers have most of them.
CAPS = """
drop index orders_pending;
create index orders_pending on orders (customer_id, kind, expires_at) where state = 'pending';
drop index orders_by_customer_reference;
create index orders_by_customer_reference on orders (customer_id, lower(btrim(customer_reference)));
"""

# Quotes whose mail has not gone out yet are those that still have their job.
QUOTES = """
alter table orders add column support_told_at timestamptz;
comment on column orders.support_told_at is 'When the mail that asks support for a price went out.';
update orders set support_told_at = created_at
where kind = 'quote' and id not in (
    select (args->>'order_id')::bigint from procrastinate_jobs where task_name = 'mail_quote_requested'
);
"""

# What the worker deletes is found by these; a deleted line makes PostgreSQL look for its shipments.
RETENTION = """
create index orders_expired on orders (expires_at) where state = 'expired';
create index address_deleted on address (deleted_at) where deleted_at is not null;
create index idempotency_key_by_age on idempotency_key (created_at);
create index shipment_line_of_line on shipment_line (line_id);
comment on table idempotency_key is 'Written in the transaction of what the key made.';
"""


def upgrade() -> None:
    """Disable the trigger that notifies of new jobs, since the worker polls; change indexes; add a column."""
    run_sql(QUEUE)
    run_sql(CAPS)
    run_sql(QUOTES)
    run_sql(RETENTION)
