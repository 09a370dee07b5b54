"""Indexes from which long lists read their next page: orders of a status by total, and products by their place."""

from tradecounter.db.migrations.sql import run_sql

revision = "0090"
down_revision = "0086"
works_from = "0051"

# The lock comes first: creating an index takes a weaker one, which requests could hold too.
_INDEXES = """
    lock table orders in access exclusive mode;
    drop index orders_by_status;
    create index orders_by_status on orders (status, confirmed_at) include (gross, id) where state = 'confirmed';
    create index stock_level_by_place on stock_level (location, product_id);
"""


def upgrade() -> None:
    """Create the indexes."""
    run_sql(_INDEXES)
