"""An event on the wire, with examples."""

from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta, Raw, Struct

from tradecounter.events.queries import EventRecord
from tradecounter.kit.json_text import to_json
from tradecounter.kit.wire import Moment, Timed


class Event(Timed, Struct, kw_only=True, omit_defaults=True):
    """Something that happened, such as the dispatch of an order."""

    id: Annotated[str, Meta(description="Unique; use it to recognise an event that you have handled.")]
    sequence: Annotated[int, Meta(description="The position in the log. Yours increase, with gaps.")]
    type: Annotated[str, Meta(description="What happened.", examples=["order.dispatched"])]
    occurred_at: Annotated[Moment, Meta(description="When it happened, in UTC.")]
    subject: Annotated[str, Meta(description="What it happened to; the events of a subject are in order.")]
    customer_id: Annotated[int | None, Meta(description="The customer.")] = None
    data: Annotated[
        Raw,
        Meta(
            description="Ids, references and the status; more members may come.", extra_json_schema={"type": "object"}
        ),
    ]


def event_on_the_wire(record: EventRecord) -> Event:
    """Return an event as the resource Event."""
    return Event(
        id=record.id,
        sequence=record.sequence,
        type=record.type,
        occurred_at=record.occurred_at,
        subject=record.subject,
        customer_id=record.customer_id,
        data=Raw(record.data.encode()),
    )


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
                "shipment": {
                    "shipment_id": 7,
                    "method_id": 102,
                    "carrier": "Northway Parcels",
                    "tracking_number": "FV123456789",
                    "tracking_url": "https://track.example/FV123456789",
                    "dispatched_on": "2026-06-17T09:30:00",
                    "items": [
                        {
                            "id": 90017,
                            "quantity": 6,
                            "serial_numbers": [{"mac_address": "", "serial_number": "A1B2C3", "provisioning_sku": ""}],
                        }
                    ],
                },
            }
        )
    ),
)
