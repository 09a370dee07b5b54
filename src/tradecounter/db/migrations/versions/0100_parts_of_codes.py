"""Parts of serial, MAC and tracking numbers, and a customer's cancelled orders, for the searches."""

from tradecounter.db.migrations.sql import run_sql

revision = "0100"
down_revision = "0099"
works_from = "0051"

_BY_PARTS = """
    drop index serial_number_by_mac;
    create index serial_number_by_code on serial_number
        (lower(regexp_replace(serial_number, '[^0-9A-Za-z]', '', 'g')) text_pattern_ops);
    create index serial_number_by_end on serial_number
        (reverse(lower(regexp_replace(serial_number, '[^0-9A-Za-z]', '', 'g'))) text_pattern_ops);
    create index serial_number_by_mac on serial_number
        (lower(regexp_replace(mac_address, '[^0-9A-Za-z]', '', 'g')) text_pattern_ops) where mac_address <> '';
    create index serial_number_by_end_of_mac on serial_number
        (reverse(lower(regexp_replace(mac_address, '[^0-9A-Za-z]', '', 'g'))) text_pattern_ops) where mac_address <> '';
    create index shipment_by_tracking_code on shipment
        (lower(regexp_replace(tracking_number, '[^0-9A-Za-z]', '', 'g')) text_pattern_ops)
        where tracking_number is not null;
    create index shipment_by_end_of_tracking on shipment
        (reverse(lower(regexp_replace(tracking_number, '[^0-9A-Za-z]', '', 'g'))) text_pattern_ops)
        where tracking_number is not null;
    create index orders_cancelled_of_customer on orders (customer_id) where state = 'cancelled';
"""


def upgrade() -> None:
    """Make the indexes; the one of MAC addresses replaces one of addresses as they are written."""
    run_sql(_BY_PARTS)
