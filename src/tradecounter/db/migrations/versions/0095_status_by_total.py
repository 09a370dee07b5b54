"""An index from which a page of a status by total is read."""

from tradecounter.db.migrations.sql import run_sql

revision = "0095"
down_revision = "0094"
works_from = "0051"

# The lock comes first: creating an index takes a weaker one, which requests could hold too.
_INDEX = """
    lock table orders in access exclusive mode;
    create index orders_by_status_and_total on orders (status, gross, id) where state = 'confirmed';
"""


def upgrade() -> None:
    """Create the index."""
    run_sql(_INDEX)
