"""Indexes for the sums and the orders of pages of staff, which would otherwise read the rows themselves.

What is due is in the index of unpaid invoices: it is written anew only when `due` changes, which it already was.
Invoices of some days are found by a summary of their pages, which costs next to nothing to write. Orders are sorted by
total, and cancelled ones are listed; the index of the latter costs nothing until an order is cancelled.
"""

from tradecounter.db.migrations.sql import run_sql

revision = "0027"
down_revision = "0026"

MONEY = """
drop index invoice_unpaid;
create index invoice_unpaid on invoice_balance (customer_id, due_at, invoice) include (due) where due > 0;
create index invoice_by_issue on invoice using brin (issued_at) with (pages_per_range = 32, autosummarize = on);
"""

ORDERS = """
create index orders_by_total on orders (gross, id);
create index orders_cancelled on orders (coalesce(confirmed_at, created_at), id) where state = 'cancelled';
"""


def upgrade() -> None:
    """Create the indexes."""
    run_sql(MONEY, ORDERS)
