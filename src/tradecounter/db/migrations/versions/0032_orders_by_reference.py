"""The index of customers' references begins with the reference, so that staff find one without knowing the customer.

The strongest lock comes first, as in 0031.
"""

from tradecounter.db.migrations.sql import run_sql

revision = "0032"
down_revision = "0031"
works_from = "0028"

ORDERS = """
lock table orders in access exclusive mode;
create index orders_by_reference_of_customer on orders (lower(btrim(customer_reference)), customer_id);
drop index orders_by_customer_reference;
alter index orders_by_reference_of_customer rename to orders_by_customer_reference;
"""


def upgrade() -> None:
    """Create the index anew."""
    run_sql(ORDERS)
