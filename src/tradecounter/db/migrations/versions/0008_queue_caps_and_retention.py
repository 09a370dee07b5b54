"""The job queue without notifications; indexes for the cap on pending orders and for clean-up; mails to support."""

from tradecounter.db.migrations.sql import run_sql

revision = "0008"
down_revision = "0007"

# A transaction that notifies commits under a lock of the whole server.
QUEUE = """
alter table procrastinate_jobs disable trigger procrastinate_jobs_notify_queue_job_inserted_v1;
"""

# Each new order counts its customer's pending orders. The worker scans this index for those to expire. With a second
# index, by time, the planner would choose that one for the count when few customers have most of the pending orders.
CAPS = """
drop index orders_pending;
create index orders_pending on orders (customer_id, kind, expires_at) where state = 'pending';
drop index orders_by_customer_reference;
create index orders_by_customer_reference on orders (customer_id, lower(btrim(customer_reference)));
"""

# A quote whose mail was not sent yet still has its job.
QUOTES = """
alter table orders add column support_told_at timestamptz;
comment on column orders.support_told_at is 'When the mail that asks support for a price went out.';
update orders set support_told_at = created_at
where kind = 'quote' and id not in (
    select (args->>'order_id')::bigint from procrastinate_jobs where task_name = 'mail_quote_requested'
);
"""

# For the worker's clean-up; when a line is deleted, PostgreSQL looks for its shipments.
RETENTION = """
create index orders_expired on orders (expires_at) where state = 'expired';
create index address_deleted on address (deleted_at) where deleted_at is not null;
create index idempotency_key_by_age on idempotency_key (created_at);
create index shipment_line_of_line on shipment_line (line_id);
comment on table idempotency_key is 'Written in the transaction of what the key made.';
"""


def upgrade() -> None:
    """Disable the trigger that notifies of new jobs, since the worker polls; change indexes; add a column."""
    run_sql(QUEUE, CAPS, QUOTES, RETENTION)
