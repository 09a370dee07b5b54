"""`/api/webhook`: endpoints of the reseller and of customers, and their deliveries, with examples."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import ChangingParameters, Desk
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import Described, ListPage, Subject
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.events.wire import EVENT
from tradecounter.webhooks import manage
from tradecounter.webhooks.manage import WebhookPolicy
from tradecounter.webhooks.queries.endpoints import endpoints_after
from tradecounter.webhooks.wire import (
    Attempt,
    CreatedWebhook,
    Delivery,
    Replay,
    Replayed,
    Webhook,
    WebhookChange,
    WebhookRequest,
    delivery_on_the_wire,
    webhook_on_the_wire,
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
    **msgspec.structs.asdict(_ATTEMPT),
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


_WEBHOOKS = Subject(
    tag="Webhooks", read="events:read", write="events:write", roles=("administrator",), described=DESCRIBED
)
_ALL, _ONE = "/api/webhook", "/api/webhook/{id}"

WebhookId = Annotated[int, InPath("id", "The webhook's id.", 3, "webhook")]
DeliveryId = Annotated[int, InPath("delivery_id", "The delivery's id.", 812, "delivery")]


class WebhookListParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/webhook`."""

    customer_id: Annotated[int | None, Meta(description="Only this customer's webhooks.", examples=[1001])] = None


class WebhookOperations(Struct, frozen=True):
    """The endpoints of webhooks."""

    desk: Desk
    policy: WebhookPolicy

    @_WEBHOOKS.lists(_ALL, "The webhooks.")
    async def list_webhooks(self, tx: Transaction, query: WebhookListParameters) -> ListPage[Webhook]:
        """The webhooks of the reseller and of customers."""
        endpoints = await endpoints_after(tx, query.after, query.limit + 1, query.customer_id, query.since)
        return ListPage(endpoints, map(webhook_on_the_wire, endpoints))

    @_WEBHOOKS.changes("POST", _ALL, location="{id}", shown_once="secret", errors=(NOT_FOUND,))
    async def create_webhook(self, tx: Transaction, now: datetime, body: WebhookRequest) -> CreatedWebhook:
        """Add a webhook.

        It gets the events from now on. With `customer_id`, it gets what this customer may read.
        """
        return await manage.add_webhook(tx, self.policy, body, now)

    @_WEBHOOKS.shows(_ONE)
    async def get_webhook(self, tx: Transaction, webhook_id: WebhookId) -> Webhook:
        """One webhook."""
        return await manage.show_webhook(tx, webhook_id)

    @_WEBHOOKS.changes("PATCH", _ONE)
    async def change_webhook(
        self, tx: Transaction, now: datetime, webhook_id: WebhookId, body: WebhookChange
    ) -> Webhook:
        """Change a webhook, or pause it, or set it active.

        One that is set active gets all events that it has missed.
        """
        return await manage.change_webhook(tx, self.policy, webhook_id, body, now)

    @_WEBHOOKS.changes("DELETE", _ONE, "The webhook is deleted.")
    async def delete_webhook(self, tx: Transaction, now: datetime, webhook_id: WebhookId) -> None:
        """Delete a webhook with its deliveries."""
        await manage.remove_webhook(tx, webhook_id, now)

    @_WEBHOOKS.changes(
        "POST",
        f"{_ONE}/rotate-secret",
        "The webhook with its new secret, which is shown only now.",
        shown_once="secret",
    )
    async def rotate_webhook_secret(self, tx: Transaction, now: datetime, webhook_id: WebhookId) -> CreatedWebhook:
        """Give a webhook a new secret.

        For a day, deliveries are signed with the former secret too.
        """
        return await manage.rotate_webhook_secret(tx, self.policy, webhook_id, now)

    @_WEBHOOKS.changes("POST", f"{_ONE}/ping", WAITING)
    async def ping_webhook(self, tx: Transaction, now: datetime, webhook_id: WebhookId) -> Delivery:
        """Send a ping.

        The worker sends it; read its result from the deliveries.
        """
        return await manage.ping_webhook(tx, webhook_id, now)

    @_WEBHOOKS.lists(f"{_ONE}/delivery", "The deliveries of 30 days, and those that wait.")
    async def list_deliveries(
        self, tx: Transaction, webhook_id: WebhookId, query: ChangingParameters
    ) -> ListPage[Delivery]:
        """A webhook's deliveries, the latest first.

        A delivery changes when it is made, attempted or delivered.
        """
        deliveries = await manage.list_deliveries(
            tx, webhook_id, query.after or None, query.limit + 1, changed_since=query.since
        )
        return ListPage(deliveries, map(delivery_on_the_wire, deliveries))

    @_WEBHOOKS.changes(
        "POST", f"{_ONE}/delivery/{{delivery_id}}/redeliver", Described("The new delivery.", WAITING.example)
    )
    async def redeliver(
        self, tx: Transaction, now: datetime, webhook_id: WebhookId, delivery_id: DeliveryId
    ) -> Delivery:
        """Deliver an event once more."""
        return await manage.redeliver(tx, webhook_id, delivery_id, now)

    @_WEBHOOKS.changes("POST", f"{_ONE}/replay")
    async def replay_events(self, tx: Transaction, now: datetime, webhook_id: WebhookId, body: Replay) -> Replayed:
        """Deliver all events of a range once more."""
        return await manage.replay(tx, webhook_id, body, now)
