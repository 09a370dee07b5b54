"""One index for all orders of a customer, also by its own reference without regard to case.

It takes the place of one that held pending and confirmed orders only.

Revision ID: 0012
Revises: 0006
"""

from tradecounter.db.migrations.sql import run_sql

revision = "0012"
down_revision = "0009"
branch_labels = None
depends_on = None

ORDERS_OF_A_CUSTOMER = """
drop index orders_by_customer_reference;
create index orders_by_customer_reference on orders (customer_id, lower(btrim(customer_reference)));
"""


def upgrade() -> None:
    """Replace the index."""
    run_sql(ORDERS_OF_A_CUSTOMER)
