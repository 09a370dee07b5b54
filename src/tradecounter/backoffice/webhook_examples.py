"""Examples of webhooks for the interface document."""

from datetime import UTC, datetime, timedelta

import msgspec

from tradecounter.events.examples import EVENT
from tradecounter.webhooks.wire import (
    Attempt,
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

NEW_WEBHOOK = WebhookRequest(url=_URL, types=_TYPES, description="ERP")
WEBHOOK_CHANGE = WebhookChange(state="active")
WEBHOOK = Webhook(
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
CREATED_WEBHOOK = with_secret(WEBHOOK, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=")
_ATTEMPT = Attempt(
    attempt=1, at=_AT, status=503, milliseconds=84, error=None, response="The service is being maintained."
)
DELIVERY = Delivery(
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
WAITING_DELIVERY = msgspec.structs.replace(
    DELIVERY, attempt=0, at=None, status=None, milliseconds=None, response=None, next_attempt_at=_AT, attempts=[]
)
REPLAY = Replay(1001, 1042)
REPLAYED = Replayed(17)
