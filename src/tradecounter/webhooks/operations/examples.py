"""Examples of webhooks for the interface document."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import msgspec

from tradecounter.edge.operations.subject import Described
from tradecounter.events.wire import EVENT
from tradecounter.webhooks.wire import (
    Attempt,
    CreatedWebhook,
    Delivery,
    Replay,
    Replayed,
    Webhook,
    WebhookChange,
    WebhookRequest,
    with_secret,
)

_AT = datetime(2026, 6, 17, 8, 30, 1, tzinfo=UTC)
_URL = "https://erp.example/events"
_TYPES = ["order.confirmed", "order.dispatched"]

_NEW_WEBHOOK = WebhookRequest(url=_URL, types=_TYPES, description="ERP")
_WEBHOOK = Webhook(
    id=3,
    customer_id=None,
    url=_URL,
    types=_TYPES,
    description="ERP",
    state="active",
    reason=None,
    failing_since=None,
    created_at=datetime(2026, 6, 16, 8, tzinfo=UTC),
)
_CREATED_WEBHOOK = with_secret(_WEBHOOK, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=")
_ATTEMPT = Attempt(
    attempt=1, at=_AT, status=503, milliseconds=84, error=None, response="The service is being maintained."
)
_DELIVERY = Delivery(
    id=812,
    event=EVENT.id,
    sequence=EVENT.sequence,
    type=EVENT.type,
    subject=EVENT.subject,
    attempt=_ATTEMPT.attempt,
    at=_ATTEMPT.at,
    status=_ATTEMPT.status,
    milliseconds=_ATTEMPT.milliseconds,
    error=_ATTEMPT.error,
    response=_ATTEMPT.response,
    next_attempt_at=_AT + timedelta(seconds=5),
    delivered_at=None,
    attempts=[_ATTEMPT],
)
_WAITING_DELIVERY = msgspec.structs.replace(
    _DELIVERY, attempt=0, at=None, status=None, milliseconds=None, response=None, next_attempt_at=_AT, attempts=[]
)

DESCRIBED: Mapping[type, Described] = {
    Webhook: Described("The webhook.", _WEBHOOK),
    WebhookRequest: Described("", _NEW_WEBHOOK),
    CreatedWebhook: Described("The webhook with its secret, which is shown only now.", _CREATED_WEBHOOK),
    WebhookChange: Described("", WebhookChange(state="active")),
    Delivery: Described("The delivery.", _DELIVERY),
    Replay: Described("", Replay(1001, 1042)),
    Replayed: Described("How many.", Replayed(17)),
}
WAITING = Described("The delivery.", _WAITING_DELIVERY)
