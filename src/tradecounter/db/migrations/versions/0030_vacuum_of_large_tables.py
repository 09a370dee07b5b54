"""Vacuum and analyze the tables that grow for ever after a fiftieth and a hundredth of new rows, not after a fifth.

Lists of orders read an index only, except where vacuum has not seen the rows. With ten million orders, PostgreSQL's
defaults leave the latest two million unseen, which are the ones that people read. Statistics age in the same way.
"""

from tradecounter.db.migrations.sql import run_sql

revision = "0030"
down_revision = "0028"
works_from = "0028"

CHANGING = """
alter table orders set (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.01);
alter table order_line set (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.01);
"""

GROWING = """
alter table event set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.01);
alter table audit_entry set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.01);
alter table idempotency_key set (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.01);
"""


def upgrade() -> None:
    """Set the shares."""
    run_sql(CHANGING, GROWING)
