"""`/api/webhook`: endpoints of the reseller and of customers, and their deliveries."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import ChangingParameters, Desk
from tradecounter.edge.operations.subject import Described, InPath, Listed, Subject
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.webhooks import manage_deliveries, manage_endpoints
from tradecounter.webhooks.operations.examples import DESCRIBED, WAITING
from tradecounter.webhooks.policy import WebhookPolicy
from tradecounter.webhooks.queries.endpoints import endpoints_after
from tradecounter.webhooks.wire import (
    CreatedWebhook,
    Delivery,
    Replay,
    Replayed,
    Webhook,
    WebhookChange,
    WebhookRequest,
    delivery_on_the_wire,
    webhook_on_the_wire,
)

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
    async def list_webhooks(self, tx: Transaction, query: WebhookListParameters) -> Listed[Webhook]:
        """The webhooks of the reseller and of customers."""
        found = await endpoints_after(tx, query.after, query.limit + 1, query.customer_id, query.since)
        return Listed(found, map(webhook_on_the_wire, found))

    @_WEBHOOKS.changes("POST", _ALL, location="{id}", shown_once="secret", errors=(NOT_FOUND,))
    async def create_webhook(self, tx: Transaction, now: datetime, body: WebhookRequest) -> CreatedWebhook:
        """Add a webhook.

        It gets the events from now on. With `customer_id`, it gets what this customer may read.
        """
        return await manage_endpoints.add_webhook(tx, self.policy, body, now)

    @_WEBHOOKS.shows(_ONE)
    async def get_webhook(self, tx: Transaction, webhook_id: WebhookId) -> Webhook:
        """One webhook."""
        return await manage_endpoints.show_webhook(tx, webhook_id)

    @_WEBHOOKS.changes("PATCH", _ONE)
    async def change_webhook(
        self, tx: Transaction, now: datetime, webhook_id: WebhookId, body: WebhookChange
    ) -> Webhook:
        """Change a webhook, or pause it, or set it active.

        One that is set active gets all events that it has missed.
        """
        return await manage_endpoints.change_webhook(tx, self.policy, webhook_id, body, now)

    @_WEBHOOKS.changes("DELETE", _ONE, "The webhook is deleted.")
    async def delete_webhook(self, tx: Transaction, now: datetime, webhook_id: WebhookId) -> None:
        """Delete a webhook with its deliveries."""
        await manage_endpoints.remove_webhook(tx, webhook_id, now)

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
        return await manage_endpoints.rotate_webhook_secret(tx, self.policy, webhook_id, now)

    @_WEBHOOKS.changes("POST", f"{_ONE}/ping", WAITING)
    async def ping_webhook(self, tx: Transaction, now: datetime, webhook_id: WebhookId) -> Delivery:
        """Send a ping.

        The worker sends it; read its result from the deliveries.
        """
        return await manage_deliveries.ping_webhook(tx, webhook_id, now)

    @_WEBHOOKS.lists(f"{_ONE}/delivery", "The deliveries of 30 days, and those that wait.")
    async def list_deliveries(
        self, tx: Transaction, webhook_id: WebhookId, query: ChangingParameters
    ) -> Listed[Delivery]:
        """A webhook's deliveries, the latest first.

        A delivery changes when it is made, attempted or delivered.
        """
        found = await manage_deliveries.list_deliveries(
            tx, webhook_id, query.after, query.limit + 1, changed_since=query.since
        )
        return Listed(found, map(delivery_on_the_wire, found))

    @_WEBHOOKS.changes(
        "POST", f"{_ONE}/delivery/{{delivery_id}}/redeliver", Described("The new delivery.", WAITING.example)
    )
    async def redeliver(
        self, tx: Transaction, now: datetime, webhook_id: WebhookId, delivery_id: DeliveryId
    ) -> Delivery:
        """Deliver an event once more."""
        return await manage_deliveries.redeliver(tx, webhook_id, delivery_id, now)

    @_WEBHOOKS.changes("POST", f"{_ONE}/replay")
    async def replay_events(self, tx: Transaction, now: datetime, webhook_id: WebhookId, body: Replay) -> Replayed:
        """Deliver all events of a range once more."""
        return await manage_deliveries.replay(tx, webhook_id, body, now)
