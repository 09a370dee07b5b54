"""Invoices by what is due and by their total, for the lists that are sorted by them."""

from tradecounter.db.migrations.sql import run_sql

revision = "0101"
down_revision = "0100"
works_from = "0051"

_BY_AMOUNT = """
    create index invoice_balance_by_due on invoice_balance (due, invoice);
    create index invoice_balance_by_gross on invoice_balance (gross, invoice);
"""


def upgrade() -> None:
    """Make the indexes: a page of such a list read and sorted all balances."""
    run_sql(_BY_AMOUNT)
