"""The orders of a customer in any state, and the references of the confirmed ones, for lists and the search."""

from tradecounter.db.migrations.sql import run_sql

revision = "0103"
down_revision = "0102"
works_from = "0051"

_OF_CUSTOMER = """
    create index orders_of_any_state on orders (customer_id, id);
    drop index orders_cancelled_of_customer;
    create index orders_of_customer_with_references on orders (customer_id, confirmed_at desc, number desc)
        include (id, status, customer_reference, order_reference) where state = 'confirmed';
    drop index orders_of_customer;
    alter index orders_of_customer_with_references rename to orders_of_customer;
"""


def upgrade() -> None:
    """Make the indexes: a search read all of a customer's orders, and a list of few of them those of all customers."""
    run_sql(_OF_CUSTOMER)
