"""The steps of a webhook: pause it, set it active, ping it, deliver again; and one delivery with its attempts."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from msgspec import Struct
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import NoFields, step
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import not_found
from tradecounter.parts.back_office import OfficeParts
from tradecounter.webhooks.manage import (
    WebhookPolicy,
    change_webhook,
    ping_webhook,
    redeliver,
    replay,
    show_webhook,
)
from tradecounter.webhooks.pages.staff.webhooks import ADMINISTRATORS
from tradecounter.webhooks.queries.deliveries import find_delivery
from tradecounter.webhooks.wire import Delivery, Replay, Replayed, Webhook, WebhookChange, delivery_on_the_wire


class StateForm(Struct):
    """The state that a webhook gets."""

    state: Literal["active", "paused"]


def _state_told(webhook: Webhook) -> str:
    if webhook.state == "active":
        return "The webhook is active. It gets what it has missed."
    return "The webhook is paused. Its events are kept."


def _replayed(made: Replayed) -> str:
    return f"{made.deliveries:,} {'event is' if made.deliveries == 1 else 'events are'} delivered again."


@dataclass(frozen=True, slots=True)
class DeliveryPages:
    """Deliveries of webhooks."""

    desk: PageDesk
    parts: OfficeParts

    @step(
        "/webhook/{id}/state",
        "Pause a webhook or set it active",
        shown=lambda self, call, filled: self._show(call, "webhooks/state.html", filled),
        to="/webhook/{id}",
        done=_state_told,
        scope="events:write",
        roles=ADMINISTRATORS,
    )
    async def set_state(self, tx: Transaction, call: Call, body: StateForm, now: datetime) -> Webhook:
        policy = WebhookPolicy.from_settings(self.parts.settings)
        return await change_webhook(tx, policy, _id(call), WebhookChange(state=body.state), now)

    @step(
        "/webhook/{id}/ping",
        "Send a ping",
        shown=lambda self, call, filled: self._show(call, "webhooks/ping.html", filled),
        to="/webhook/{id}",
        done="The ping is on its way.",
        scope="events:write",
        roles=ADMINISTRATORS,
    )
    async def ping(self, tx: Transaction, call: Call, now: datetime) -> Delivery:
        return await ping_webhook(tx, _id(call), now)

    @step(
        "/webhook/{id}/replay",
        "Deliver a range again",
        shown=lambda self, call, filled: self._show(call, "webhooks/replay.html", filled),
        to="/webhook/{id}",
        done=lambda made: (
            f"{made.deliveries:,} {'event is' if made.deliveries == 1 else 'events are'} delivered again."
        ),
        scope="events:write",
        roles=ADMINISTRATORS,
    )
    async def replay(self, tx: Transaction, call: Call, body: Replay, now: datetime) -> Replayed:
        return await replay(tx, _id(call), body, now)

    @page("/webhook/{id}/delivery/{delivery_id}", "One delivery", scope="events:read")
    async def show_delivery(self, call: Call) -> Response:
        return await self._show_delivery(call, Filled())

    @form("/webhook/{id}/delivery/{delivery_id}", "Deliver again", scope="events:write", roles=ADMINISTRATORS)
    async def redeliver(self, call: Call) -> Response:
        async def work(tx: Transaction, _: NoFields, now: datetime) -> Delivery:
            return await redeliver(tx, _id(call), call.path_id("delivery_id", "delivery"), now)

        return await self.desk.change(
            call,
            NoFields,
            work,
            again=lambda filled: self._show_delivery(call, filled),
            to=lambda delivery: f"/webhook/{_id(call)}/delivery/{delivery.id}",
            done="The event is delivered again. This is the new delivery.",
        )

    async def _show_delivery(self, call: Call, filled: Filled) -> Response:
        delivery_id = call.path_id("delivery_id", "delivery")
        async with self.desk.reading() as tx:
            webhook = await show_webhook(tx, _id(call))
            found = await find_delivery(tx, webhook.id, delivery_id)
        if found is None:
            raise not_found("delivery", delivery_id)
        delivery = delivery_on_the_wire(found)
        return self.desk.show(call, "webhooks/delivery.html", form=filled, webhook=webhook, delivery=delivery)

    async def _show(self, call: Call, template: str, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            webhook = await show_webhook(tx, _id(call))
        return self.desk.show(call, template, form=filled, webhook=webhook)


def _id(call: Call) -> int:
    return call.path_id("id", "webhook")
