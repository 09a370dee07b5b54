"""Examples of returns for the back office's interface document."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal

from msgspec import structs

from tradecounter.billing.reseller_wire import IssuedCreditNote, ReceivedReturn
from tradecounter.edge.operations.subject import Described
from tradecounter.returns import requests as returned
from tradecounter.returns.wire import Return, ReturnItem

_AT = datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC)
_NEW_RETURN = returned.ReturnRequest([returned.ReturnedUnits(90017, 1, ["A1B2C3"])], "Faulty")

_RETURN = Return(
    number="RMA-1001",
    order_reference="ORD-100042",
    customer_id=1001,
    state="received",
    reason="Faulty",
    opened_at=_AT,
    received_at=datetime(2026, 6, 18, 10, tzinfo=UTC),
    closed_at=None,
    items=[
        ReturnItem(
            id=90017,
            sku="CV-320P",
            quantity=1,
            received=1,
            restocked=0,
            scrapped=1,
            serial_numbers=["A1B2C3"],
            credited=0,
        )
    ],
)

_CREDITED = [structs.replace(item, credited=1) for item in _RETURN.items]

_RECEIVED = ReceivedReturn(
    **structs.asdict(_RETURN) | {"state": "closed", "closed_at": _RETURN.received_at, "items": _CREDITED},
    credit_notes=[IssuedCreditNote(50001, 10001, Decimal("60.00"))],
)


DESCRIBED: Mapping[type, Described] = {
    Return: Described("The return.", _RETURN),
    returned.ReturnRequest: Described("", _NEW_RETURN),
    returned.Receipt: Described("", returned.Receipt([returned.ReceivedUnits(90017, scrap=1)], credit=True)),
    ReceivedReturn: Described("The return.", _RECEIVED, "Return"),
}
