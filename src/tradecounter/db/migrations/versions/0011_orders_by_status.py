"""The index for the lists of a customer's orders also holds their status, so that it answers for one status alone.

The new index is there before the old one goes: only that waits for readers.

Revision ID: 0011
Revises: 0010
"""

from tradecounter.db.migrations.sql import run_sql

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

ORDERS_BY_STATUS = """
create index orders_of_customer_with_status on orders (customer_id, confirmed_at desc, number desc) include (status)
    where state = 'confirmed';
drop index orders_of_customer;
alter index orders_of_customer_with_status rename to orders_of_customer;
"""


def upgrade() -> None:
    """Replace the index."""
    run_sql(ORDERS_BY_STATUS)
