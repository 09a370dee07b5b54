"""The status of orders that have an invoice, and will get another one.

If a process of the previous release invoices a part during the upgrade, the order keeps its status until its next step.
"""

from tradecounter.db.migrations.sql import run_sql

revision = "0039"
down_revision = "0037"
works_from = "0028"

STATUS = """
update orders o set status = 'Part invoiced'
where state = 'confirmed' and status not in ('Invoiced', 'Completed')
  and exists (select from invoice i where i.order_id = o.id);
"""


def upgrade() -> None:
    """Set the status."""
    run_sql(STATUS)
