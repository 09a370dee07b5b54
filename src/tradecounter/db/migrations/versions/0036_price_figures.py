"""What imports did to prices, in their history."""

from tradecounter.db.migrations.sql import run_sql

revision = "0036"
down_revision = "0035"
works_from = "0028"

FIGURES = """
alter table import_run
    add column raised integer, add column lowered integer, add column largest_rise numeric,
    add column largest_fall numeric, add column customers integer;
comment on column import_run.raised is
    'Prices that rose; null for kinds without prices, and before this column existed.';
comment on column import_run.lowered is 'Prices that fell; null as `raised`.';
comment on column import_run.largest_rise is 'In per cent; null without one.';
comment on column import_run.largest_fall is 'In per cent, below 0; null without one.';
comment on column import_run.customers is
    'Customers whose list or contract had a price that changed; null as `raised`.';
"""


def upgrade() -> None:
    """Add the columns."""
    run_sql(FIGURES)
