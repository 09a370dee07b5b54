"""Shipping regions with names, countries and postcode areas."""

from tradecounter.db.migrations.sql import run_sql

revision = "0010"
down_revision = "0009"

REGIONS = """
create table shipping_region (
    id integer primary key,
    name text not null,
    countries jsonb not null default '[]',
    postcodes jsonb not null default '[]',
    active boolean not null default true
);
comment on column shipping_region.postcodes is 'British areas such as BT and districts such as KW15.';
"""


def upgrade() -> None:
    """Create the table of regions."""
    run_sql(REGIONS)
