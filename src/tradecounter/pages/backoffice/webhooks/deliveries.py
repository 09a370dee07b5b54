"""The steps of a webhook: pause it, set it active, ping it, deliver again; and one delivery with its attempts."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct
from starlette.responses import Response

from tradecounter.backoffice.desk import Nothing
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found
from tradecounter.page_kit.forms import Filled
from tradecounter.pages.backoffice.parts import OfficeParts
from tradecounter.pages.backoffice.webhooks.endpoints import ADMINISTRATORS
from tradecounter.pages.operation import form, page
from tradecounter.pages.page_desk import PageDesk, Shape
from tradecounter.rest.call import Call
from tradecounter.webhooks.manage import (
    WebhookPolicy,
    change_webhook,
    ping_webhook,
    redeliver,
    replay,
    show_webhook,
)
from tradecounter.webhooks.queries.deliveries import find_delivery
from tradecounter.webhooks.wire import Delivery, Replay, Replayed, Webhook, WebhookChange, delivery_on_the_wire


class StateForm(Struct):
    """The state that a webhook gets."""

    state: Literal["active", "paused"]


@dataclass(frozen=True, slots=True)
class DeliveryPages:
    """Deliveries of webhooks."""

    desk: PageDesk
    parts: OfficeParts

    @form("/webhook/{id}/state", "Pause a webhook or set it active", scope="events:write", roles=ADMINISTRATORS)
    async def set_state(self, call: Call) -> Response:
        async def work(tx: Transaction, body: StateForm, now: datetime) -> Webhook:
            policy = WebhookPolicy.from_settings(self.parts.settings)
            return await change_webhook(tx, policy, _id(call), WebhookChange(state=body.state), now)

        def done(webhook: Webhook) -> str:
            if webhook.state == "active":
                return "The webhook is active. It gets what it has missed."
            return "The webhook is paused. Its events are kept."

        return await self._take(call, StateForm, work, done, "webhooks/state.html")

    @page("/webhook/{id}/state", "Pause a webhook or set it active", scope="events:write", roles=ADMINISTRATORS)
    async def show_state(self, call: Call) -> Response:
        return await self._show(call, "webhooks/state.html", Filled())

    @form("/webhook/{id}/ping", "Send a ping", scope="events:write", roles=ADMINISTRATORS)
    async def ping(self, call: Call) -> Response:
        async def work(tx: Transaction, _: Nothing, now: datetime) -> Delivery:
            return await ping_webhook(tx, _id(call), now)

        return await self._take(call, Nothing, work, "The ping is on its way.", "webhooks/ping.html")

    @page("/webhook/{id}/ping", "Send a ping", scope="events:write", roles=ADMINISTRATORS)
    async def show_ping(self, call: Call) -> Response:
        return await self._show(call, "webhooks/ping.html", Filled())

    @page("/webhook/{id}/replay", "Deliver a range again", scope="events:write", roles=ADMINISTRATORS)
    async def show_replay(self, call: Call) -> Response:
        return await self._show(call, "webhooks/replay.html", Filled())

    @form("/webhook/{id}/replay", "Deliver a range again", scope="events:write", roles=ADMINISTRATORS)
    async def replay(self, call: Call) -> Response:
        async def work(tx: Transaction, body: Replay, now: datetime) -> Replayed:
            return await replay(tx, _id(call), body, now)

        def done(made: Replayed) -> str:
            number = made.deliveries
            return f"{number:,} {'event is' if number == 1 else 'events are'} delivered again."

        return await self._take(call, Replay, work, done, "webhooks/replay.html")

    @page("/webhook/{id}/delivery/{delivery_id}", "One delivery", scope="events:read")
    async def show_delivery(self, call: Call) -> Response:
        return await self._show_delivery(call, Filled())

    @form("/webhook/{id}/delivery/{delivery_id}", "Deliver again", scope="events:write", roles=ADMINISTRATORS)
    async def redeliver(self, call: Call) -> Response:
        async def work(tx: Transaction, _: Nothing, now: datetime) -> Delivery:
            return await redeliver(tx, _id(call), call.path_id("delivery_id", "delivery"), now)

        return await self.desk.change(
            call,
            Nothing,
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

    async def _take(
        self,
        call: Call,
        shape: type[Shape],
        work: Callable[[Transaction, Shape, datetime], Awaitable[Any]],
        done: str | Callable[[Any], str],
        template: str,
    ) -> Response:
        return await self.desk.change(
            call,
            shape,
            work,
            again=lambda filled: self._show(call, template, filled),
            to=f"/webhook/{_id(call)}",
            done=done,
        )


def _id(call: Call) -> int:
    return call.path_id("id", "webhook")
