"""Indexes for what staff look for, which would otherwise scan all orders, units or events.

Units are found by serial number or MAC address, shipments by tracking number, in any case. Orders are listed by when
they were placed and by status. Events are read by type, and by customer
including those that the customer does not read.
"""

from tradecounter.db.migrations.sql import run_sql

revision = "0025"
down_revision = "0024"

UNITS = """
create index serial_number_by_text on serial_number (lower(serial_number));
create index serial_number_by_mac on serial_number (lower(mac_address)) where mac_address <> '';
create index shipment_by_tracking_number on shipment (lower(tracking_number)) where tracking_number is not null;
"""

ORDERS = """
create index orders_by_placing on orders (coalesce(confirmed_at, created_at), id);
create index orders_by_status on orders (status, confirmed_at) where state = 'confirmed';
create index quotes on orders (id) where kind = 'quote';
"""

EVENTS = """
create index event_by_type on event (type, sequence);
drop index event_of_customer;
create index event_of_customer on event (customer_id, sequence) where customer_id is not null;
"""


def upgrade() -> None:
    """Create the indexes."""
    run_sql(UNITS, ORDERS, EVENTS)
