"""An index of the events in a customer's timeline."""

from tradecounter.db.migrations.sql import run_sql

revision = "0046"
down_revision = "0045"
works_from = "0045"

_INDEX = """
    create index event_in_timeline on event (customer_id, occurred_at desc, sequence desc)
        where customer_id is not null and type not in ('price.changed', 'stock.changed');
"""


def upgrade() -> None:
    """Create the index."""
    run_sql(_INDEX)
