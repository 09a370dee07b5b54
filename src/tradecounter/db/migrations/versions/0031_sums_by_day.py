"""The index of orders by status has their gross, so that the sums of a month read no rows of orders.

The strongest lock comes first: to drop an index with a weaker lock held would be a deadlock with an order that has read
the table and is about to write to it.
"""

from tradecounter.db.migrations.sql import run_sql

revision = "0031"
down_revision = "0030"
works_from = "0028"

ORDERS = """
lock table orders in access exclusive mode;
create index orders_by_status_with_gross on orders (status, confirmed_at) include (gross) where state = 'confirmed';
drop index orders_by_status;
alter index orders_by_status_with_gross rename to orders_by_status;
"""


def upgrade() -> None:
    """Create the index anew."""
    run_sql(ORDERS)
