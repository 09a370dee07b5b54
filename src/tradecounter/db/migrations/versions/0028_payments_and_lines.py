"""Indexes for two lists of staff: payments by amount, and the orders of a product that few have ordered.

A summary of ranges (BRIN) would be cheaper to write than the index of products, but the planner does not use it.
"""

from tradecounter.db.migrations.sql import run_sql

revision = "0028"
down_revision = "0027"
works_from = "0027"

PAYMENTS = "create index payment_by_amount on payment (amount, id)"
LINES = "create index order_line_of_product on order_line (product_id, order_id)"


def upgrade() -> None:
    """Create the indexes."""
    run_sql(PAYMENTS, LINES)
