"""An example for the interface document."""

from datetime import UTC, datetime

from msgspec import Raw

from tradecounter.events.wire import Event
from tradecounter.kit.to_json import to_json

EVENT = Event(
    id="evt_1f0c9a7b5d3e2468ace01357",
    sequence=1042,
    type="order.dispatched",
    occurred_at=datetime(2026, 6, 17, 8, 30, tzinfo=UTC),
    subject="order/42",
    customer_id=1001,
    data=Raw(
        to_json(
            {
                "order_id": 42,
                "order_reference": "ORD-100042",
                "customer_reference": "PO-1001",
                "status": "Dispatched",
                "shipment_id": 7,
                "tracking_number": "FV123456789",
                "items": [{"id": 90017, "sku": "CV-320P", "quantity": 6, "serial_numbers": ["A1B2C3"]}],
            }
        )
    ),
)
