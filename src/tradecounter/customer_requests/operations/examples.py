"""Examples of requests, for the interface documents."""

from collections.abc import Mapping
from datetime import UTC, datetime

from msgspec.structs import replace

from tradecounter.customer_requests.handle_requests import RequestAnswer, RequestedUnits
from tradecounter.customer_requests.wire import OpenRequestRequest, RequestItem, ResellerRequest, SupportRequest
from tradecounter.edge.operations.subject import Described

CANCEL = OpenRequestRequest(
    kind="cancel",
    order_reference="PLN-100007",
    items=[RequestedUnits(700012, 2)],
    text="Two routers too many.",
)
MESSAGE = OpenRequestRequest(kind="message", order_reference="PLN-100004", text="Where is the second box?")
_ITEMS = [RequestItem(id=700012, sku="HM310", quantity=2)]
OPEN_REQUEST = SupportRequest(
    id=12,
    kind="cancel",
    state="open",
    order_reference="PLN-100007",
    items=_ITEMS,
    text="Two routers too many.",
    opened_on="2026-06-16T10:12:44",
)
REQUEST = replace(OPEN_REQUEST, state="closed", closed_on="2026-06-16T11:30:00", answer="Two are cancelled.")
_RESELLERS = ResellerRequest(
    id=12,
    kind="cancel",
    state="closed",
    order_reference="PLN-100007",
    items=_ITEMS,
    text="Two routers too many.",
    customer_id=1001,
    asked_by="Shop",
    opened_at=datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC),
    closed_at=datetime(2026, 6, 16, 10, 30, tzinfo=UTC),
    closed_by="ERP",
    answer="Two are cancelled.",
    files=[],
)

DESCRIBED: Mapping[type, Described] = {
    ResellerRequest: Described("The request.", _RESELLERS, "Request"),
    RequestAnswer: Described("", RequestAnswer("Two are cancelled."), "Answer"),
}
