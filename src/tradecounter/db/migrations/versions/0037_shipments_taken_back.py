"""The carriers of shipments, and the shipments that were taken back.

A shipment that is taken back moves to a table of its own, so that readers of shipments see only those that left.
"""

from tradecounter.db.migrations.sql import run_sql

revision = "0037"
down_revision = "0036"
works_from = "0028"

SHIPMENTS = """
alter table shipment add column carrier text;
comment on column shipment.carrier is 'Null: the provider of its shipping method.';

create table taken_back_shipment (
    id bigint primary key,
    order_id bigint not null references orders (id),
    tracking_number text,
    dispatched_at timestamptz not null,
    units jsonb not null,
    reason text not null,
    taken_back_at timestamptz not null
);
create index taken_back_shipment_of_order on taken_back_shipment (order_id);
comment on table taken_back_shipment is 'Shipments that never left, although they were recorded as dispatched.';
comment on column taken_back_shipment.id is 'The id that the shipment had.';
comment on column taken_back_shipment.units is 'The units that are allocated again, by line id.';
"""


def upgrade() -> None:
    """Add the column and the table."""
    run_sql(SHIPMENTS)
