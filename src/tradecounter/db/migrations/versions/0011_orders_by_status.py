"""Adds the status to the index for order lists, so that a list of one status needs only the index.

The new index is created before the old one is dropped: only the drop waits for readers.
"""

from tradecounter.db.migrations.sql import run_sql

revision = "0011"
down_revision = "0010"

ORDERS_BY_STATUS = """
create index orders_of_customer_with_status on orders (customer_id, confirmed_at desc, number desc) include (status)
    where state = 'confirmed';
drop index orders_of_customer;
alter index orders_of_customer_with_status rename to orders_of_customer;
"""


def upgrade() -> None:
    """Replace the index."""
    run_sql(ORDERS_BY_STATUS)
