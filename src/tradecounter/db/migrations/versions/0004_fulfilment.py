"""Bundles; shipments, serial numbers, tracking, packing videos, configurations; cancelled orders."""

from tradecounter.db.migrations.sql import run_sql

revision = "0004"
down_revision = "0003"

ORDERS = """
alter table product add column components jsonb not null default '[]';
comment on column product.components is 'Of a bundle: key (a sku_key) and quantity of what one of it holds.';

alter table order_line
    add column bundle_line_id bigint references order_line (id),
    add column dispatched integer not null default 0 check (dispatched >= 0);
create index order_line_of_bundle on order_line (bundle_line_id) where bundle_line_id is not null;
comment on column order_line.bundle_line_id is
    'Of a component: the line of the bundle, which alone has a price and takes stock.';
comment on column order_line.allocated is 'Units promised and not yet dispatched.';

alter table orders
    add column cancelled_at timestamptz,
    add column cancel_reason text;
"""

FULFILMENT = """
create table shipment (
    id bigint generated always as identity primary key,
    order_id bigint not null references orders (id),
    shipping_method integer not null,
    tracking_number text,
    contact_email text,
    contact_phone text,
    dispatched_at timestamptz not null
);
create index shipment_of_order on shipment (order_id);
comment on column shipment.contact_email is 'Whom the courier tells, as the order said (courier_notifications).';

create table shipment_line (
    shipment_id bigint not null references shipment (id),
    line_id bigint not null references order_line (id),
    quantity integer not null check (quantity > 0),
    primary key (shipment_id, line_id)
);

create table serial_number (
    id bigint generated always as identity primary key,
    shipment_id bigint not null references shipment (id),
    line_id bigint not null references order_line (id),
    serial_number text not null,
    mac_address text not null default '',
    provisioning_sku text not null default ''
);
create index serial_number_of_line on serial_number (line_id);

create table tracking_event (
    id bigint generated always as identity primary key,
    shipment_id bigint not null references shipment (id),
    date text not null,
    type text not null,
    description text not null,
    locality text not null default ''
);
create index tracking_event_of_shipment on tracking_event (shipment_id);

create table packing_video (
    order_id bigint primary key references orders (id),
    video_file text not null,
    streaming_playlist text not null
);

create table configuration (
    id bigint generated always as identity primary key,
    line_id bigint not null references order_line (id),
    data bytea not null,
    created_at timestamptz not null
);
create index configuration_of_line on configuration (line_id);
comment on column configuration.data is 'Encrypted, since it holds passwords.';
"""


def upgrade() -> None:
    """Extend products, orders and lines; create the tables of fulfilment."""
    run_sql(ORDERS, FULFILMENT)
