"""`/api/webhook`: endpoints of the reseller and of customers, and their deliveries."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from msgspec import Meta
from starlette.responses import Response

from tradecounter.backoffice import webhook_examples as examples
from tradecounter.backoffice.desk import (
    CHANGE_HEADERS,
    LOCATION,
    NEXT,
    POST_HEADERS,
    Desk,
    Nothing,
    PageParameters,
    page,
)
from tradecounter.backoffice.error_responses import CONFLICT
from tradecounter.db.transaction import Transaction
from tradecounter.rest.call import Call
from tradecounter.rest.common_errors import NOT_FOUND
from tradecounter.rest.headers import IDEMPOTENT_REPLAY
from tradecounter.rest.operation import ID, Body, Operation, Parameter, Success, endpoint
from tradecounter.rest.responses import json_response
from tradecounter.webhooks.manage import (
    WebhookPolicy,
    add_webhook,
    change_webhook,
    list_deliveries,
    ping_webhook,
    redeliver,
    remove_webhook,
    replay,
    rotate_webhook_secret,
    show_webhook,
)
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

_ID = Parameter("id", "The webhook's id.", ID, 3)
_DELIVERY_ID = Parameter("delivery_id", "The delivery's id.", ID, 812)
_ROLES = ("administrator",)


class WebhookListParameters(PageParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/webhook`."""

    customer_id: Annotated[int | None, Meta(description="Only this customer's webhooks.", examples=[1001])] = None


class DeliveryListParameters(PageParameters, frozen=True, kw_only=True):
    """The query parameters of a list of deliveries."""


@dataclass(frozen=True, slots=True)
class WebhookDesk:
    """The endpoints of webhooks."""

    desk: Desk
    policy: WebhookPolicy

    @endpoint(
        Operation(
            method="GET",
            path="/api/webhook",
            name="listWebhooks",
            tag="Webhooks",
            summary="The webhooks of the reseller and of customers",
            query=WebhookListParameters,
            success=Success(200, "The webhooks.", list[Webhook], {"List": [examples.WEBHOOK]}, headers=(NEXT,)),
            scope="events:read",
        )
    )
    async def list_webhooks(self, call: Call) -> Response:
        wanted = call.query(WebhookListParameters)
        async with self.desk.reading() as tx:
            found = await endpoints_after(tx, wanted.after, wanted.limit + 1, wanted.customer_id)
        shown = map(webhook_on_the_wire, found[: wanted.limit])
        return page(call, found, wanted.limit, lambda webhook: webhook.id, shown)

    @endpoint(
        Operation(
            method="POST",
            path="/api/webhook",
            name="createWebhook",
            tag="Webhooks",
            summary="Add a webhook",
            description="It gets the events from now on. With `customer_id`, it gets what this customer may read.",
            request_headers=POST_HEADERS,
            body=Body(WebhookRequest, {"WebhookRequest": examples.NEW_WEBHOOK}),
            success=Success(
                201,
                "The webhook with its secret, which is shown only now.",
                CreatedWebhook,
                {"CreatedWebhook": examples.CREATED_WEBHOOK},
                headers=(LOCATION, IDEMPOTENT_REPLAY),
            ),
            errors=(NOT_FOUND, CONFLICT),
            scope="events:write",
            roles=_ROLES,
        )
    )
    async def create_webhook(self, call: Call) -> Response:
        async def work(tx: Transaction, body: WebhookRequest, now: datetime) -> CreatedWebhook:
            return await add_webhook(tx, self.policy, body, now)

        return await self.desk.change(
            call,
            WebhookRequest,
            work,
            status=201,
            location="/api/webhook/{id}",
            secret="secret",  # noqa: S106 a field
        )

    @endpoint(
        Operation(
            method="GET",
            path="/api/webhook/{id}",
            name="getWebhook",
            tag="Webhooks",
            summary="One webhook",
            path_parameters=(_ID,),
            success=Success(200, "The webhook.", Webhook, {"Webhook": examples.WEBHOOK}),
            errors=(NOT_FOUND,),
            scope="events:read",
        )
    )
    async def show_webhook(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            return json_response(await show_webhook(tx, call.path_id("id", "webhook")))

    @endpoint(
        Operation(
            method="PATCH",
            path="/api/webhook/{id}",
            name="changeWebhook",
            tag="Webhooks",
            summary="Change a webhook, or pause it, or set it active",
            description="One that is set active gets all events that it has missed.",
            path_parameters=(_ID,),
            request_headers=CHANGE_HEADERS,
            body=Body(WebhookChange, {"WebhookChange": examples.WEBHOOK_CHANGE}),
            success=Success(200, "The webhook.", Webhook, {"Webhook": examples.WEBHOOK}),
            errors=(NOT_FOUND,),
            scope="events:write",
            roles=_ROLES,
        )
    )
    async def change_webhook(self, call: Call) -> Response:
        webhook_id = call.path_id("id", "webhook")

        async def work(tx: Transaction, body: WebhookChange, now: datetime) -> Webhook:
            return await change_webhook(tx, self.policy, webhook_id, body, now)

        return await self.desk.change(call, WebhookChange, work)

    @endpoint(
        Operation(
            method="DELETE",
            path="/api/webhook/{id}",
            name="deleteWebhook",
            tag="Webhooks",
            summary="Delete a webhook with its deliveries",
            path_parameters=(_ID,),
            request_headers=CHANGE_HEADERS,
            success=Success(204, "The webhook is deleted."),
            errors=(NOT_FOUND,),
            scope="events:write",
            roles=_ROLES,
        )
    )
    async def delete_webhook(self, call: Call) -> Response:
        webhook_id = call.path_id("id", "webhook")
        return await self.desk.delete(call, lambda tx, now: remove_webhook(tx, webhook_id, now))

    @endpoint(
        Operation(
            method="POST",
            path="/api/webhook/{id}/rotate-secret",
            name="rotateWebhookSecret",
            tag="Webhooks",
            summary="Give a webhook a new secret",
            description="For a day, deliveries are signed with the former secret too.",
            path_parameters=(_ID,),
            request_headers=POST_HEADERS,
            success=Success(
                200,
                "The webhook with its new secret, which is shown only now.",
                CreatedWebhook,
                {"CreatedWebhook": examples.CREATED_WEBHOOK},
                headers=(IDEMPOTENT_REPLAY,),
            ),
            errors=(NOT_FOUND, CONFLICT),
            scope="events:write",
            roles=_ROLES,
        )
    )
    async def rotate_secret(self, call: Call) -> Response:
        webhook_id = call.path_id("id", "webhook")

        async def work(tx: Transaction, _body: Nothing, now: datetime) -> CreatedWebhook:
            return await rotate_webhook_secret(tx, self.policy, webhook_id, now)

        return await self.desk.change(call, Nothing, work, secret="secret")  # noqa: S106 a field

    @endpoint(
        Operation(
            method="POST",
            path="/api/webhook/{id}/ping",
            name="pingWebhook",
            tag="Webhooks",
            summary="Send a ping",
            description="The worker sends it; read its result from the deliveries.",
            path_parameters=(_ID,),
            request_headers=POST_HEADERS,
            success=Success(
                200, "The delivery.", Delivery, {"Delivery": examples.WAITING_DELIVERY}, headers=(IDEMPOTENT_REPLAY,)
            ),
            errors=(NOT_FOUND, CONFLICT),
            scope="events:write",
            roles=_ROLES,
        )
    )
    async def ping(self, call: Call) -> Response:
        webhook_id = call.path_id("id", "webhook")

        async def work(tx: Transaction, _body: Nothing, now: datetime) -> Delivery:
            return await ping_webhook(tx, webhook_id, now)

        return await self.desk.change(call, Nothing, work)

    @endpoint(
        Operation(
            method="GET",
            path="/api/webhook/{id}/delivery",
            name="listDeliveries",
            tag="Webhooks",
            summary="A webhook's deliveries, the latest first",
            path_parameters=(_ID,),
            query=DeliveryListParameters,
            success=Success(
                200, "The deliveries of 30 days, and those that wait.", list[Delivery], {"List": [examples.DELIVERY]},
                headers=(NEXT,),
            ),
            errors=(NOT_FOUND,),
            scope="events:read",
        )
    )  # fmt: skip
    async def list_deliveries(self, call: Call) -> Response:
        webhook_id, wanted = call.path_id("id", "webhook"), call.query(DeliveryListParameters)
        async with self.desk.reading() as tx:
            found = await list_deliveries(tx, webhook_id, wanted.after, wanted.limit + 1)
        shown = map(delivery_on_the_wire, found[: wanted.limit])
        return page(call, found, wanted.limit, lambda delivery: delivery.id, shown)

    @endpoint(
        Operation(
            method="POST",
            path="/api/webhook/{id}/delivery/{delivery_id}/redeliver",
            name="redeliver",
            tag="Webhooks",
            summary="Deliver an event once more",
            path_parameters=(_ID, _DELIVERY_ID),
            request_headers=POST_HEADERS,
            success=Success(
                200,
                "The new delivery.",
                Delivery,
                {"Delivery": examples.WAITING_DELIVERY},
                headers=(IDEMPOTENT_REPLAY,),
            ),
            errors=(NOT_FOUND, CONFLICT),
            scope="events:write",
            roles=_ROLES,
        )
    )
    async def redeliver(self, call: Call) -> Response:
        webhook_id, delivery_id = call.path_id("id", "webhook"), call.path_id("delivery_id", "delivery")

        async def work(tx: Transaction, _body: Nothing, now: datetime) -> Delivery:
            return await redeliver(tx, webhook_id, delivery_id, now)

        return await self.desk.change(call, Nothing, work)

    @endpoint(
        Operation(
            method="POST",
            path="/api/webhook/{id}/replay",
            name="replayEvents",
            tag="Webhooks",
            summary="Deliver all events of a range once more",
            path_parameters=(_ID,),
            request_headers=POST_HEADERS,
            body=Body(Replay, {"Replay": examples.REPLAY}),
            success=Success(200, "How many.", Replayed, {"Replayed": examples.REPLAYED}, headers=(IDEMPOTENT_REPLAY,)),
            errors=(NOT_FOUND, CONFLICT),
            scope="events:write",
            roles=_ROLES,
        )
    )
    async def replay(self, call: Call) -> Response:
        webhook_id = call.path_id("id", "webhook")

        async def work(tx: Transaction, body: Replay, now: datetime) -> Replayed:
            return await replay(tx, webhook_id, body, now)

        return await self.desk.change(call, Replay, work)
