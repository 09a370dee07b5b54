"""`/account/developer/webhook/{id}`: a webhook with its deliveries, and what is delivered again."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from msgspec import Struct
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.page_kit.tables import Column, Sort, Table, TableParameters, csv_file, cursor_text, read_cursor
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.own_roles import DEVELOPERS
from tradecounter.edge.pages.page_desk import PageDesk, Shape
from tradecounter.edge.pages.step import NoFields, step
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import ID, Parameter
from tradecounter.kit.number_types import Id
from tradecounter.parts.account import AccountParts
from tradecounter.webhooks.manage import (
    WebhookPolicy,
    change_webhook,
    list_deliveries,
    ping_webhook,
    redeliver,
    replay,
    retry_now,
    show_delivery,
    show_webhook,
)
from tradecounter.webhooks.pages.account.webhooks import LIST, ONE, WEBHOOK_ID, webhook_id
from tradecounter.webhooks.wire import Delivery, Replay, Replayed, WebhookChange, delivery_on_the_wire

_DELIVERY = f"{ONE}/delivery/{{delivery_id}}"
_ID = (WEBHOOK_ID,)
_IDS = (WEBHOOK_ID, Parameter("delivery_id", "The delivery's id.", ID, 812))
_COLUMNS = (
    Column("Event"),
    Column("Result"),
    Column("Attempts", numeric=True),
    Column("Last attempt"),
    Column("Next attempt"),
)
_LATEST_FIRST = Sort("id", descending=True)
_FILE_HEADINGS = ("id", "event", "sequence", "type", "subject", "attempts", "last_attempt_at", "status", "error",
                  "delivered_at", "next_attempt_at")  # fmt: skip


class StateForm(Struct):
    """What a webhook is set to."""

    state: Literal["active", "paused"]


class ReplayForm(Struct):
    """A range of sequences, both ends included."""

    first: Id
    last: Id


@dataclass(frozen=True, slots=True)
class DeliveryPages:
    """One webhook and its deliveries."""

    desk: PageDesk
    parts: AccountParts

    @page(ONE, "One webhook", user_roles=DEVELOPERS, path_parameters=_ID, query=TableParameters)
    async def show_webhook(self, call: Call) -> Response:
        return await self._webhook(call, call.query(TableParameters), Filled())

    @form(f"{ONE}/state", "Pause a webhook, or set it active", user_roles=DEVELOPERS, path_parameters=_ID)
    async def set_state(self, call: Call) -> Response:
        async def work(tx: Transaction, body: StateForm, now: datetime) -> str:
            policy = WebhookPolicy.from_settings(self.parts.settings)
            change = WebhookChange(state=body.state)
            return (await change_webhook(tx, policy, webhook_id(call), change, now, call.customer_id)).state

        return await self._take(call, StateForm, work, _said)

    @form(f"{ONE}/ping", "Send a test delivery", user_roles=DEVELOPERS, path_parameters=_ID)
    async def ping(self, call: Call) -> Response:
        async def work(tx: Transaction, _: NoFields, now: datetime) -> Delivery:
            return await ping_webhook(tx, webhook_id(call), now, call.customer_id)

        return await self._take(call, NoFields, work, lambda _: "A test delivery is on its way.")

    @form(f"{ONE}/retry", "Attempt waiting deliveries now", user_roles=DEVELOPERS, path_parameters=_ID)
    async def retry(self, call: Call) -> Response:
        async def work(tx: Transaction, _: NoFields, now: datetime) -> None:
            await retry_now(tx, webhook_id(call), now, call.customer_id)

        return await self._take(call, NoFields, work, lambda _: "All waiting deliveries are attempted now.")

    @step(
        f"{ONE}/replay",
        "Deliver events again",
        shown=lambda self, call, filled: self._replay(call, filled),
        to=f"{LIST}/{{id}}",
        done=lambda made: f"Events to deliver again: {made.deliveries:,}.",
        user_roles=DEVELOPERS,
        path_parameters=_ID,
    )
    async def replay(self, tx: Transaction, call: Call, body: ReplayForm, now: datetime) -> Replayed:
        return await replay(tx, webhook_id(call), Replay(body.first, body.last), now, call.customer_id)

    @page(_DELIVERY, "One delivery", user_roles=DEVELOPERS, path_parameters=_IDS)
    async def show_delivery(self, call: Call) -> Response:
        return await self._delivery(call, Filled())

    @form(f"{_DELIVERY}/redeliver", "Deliver an event again", user_roles=DEVELOPERS, path_parameters=_IDS)
    async def redeliver(self, call: Call) -> Response:
        async def work(tx: Transaction, _: NoFields, now: datetime) -> Delivery:
            return await redeliver(tx, webhook_id(call), _delivery_id(call), now, call.customer_id)

        return await self.desk.change(
            call,
            NoFields,
            work,
            again=lambda filled: self._delivery(call, filled),
            to=f"{LIST}/{webhook_id(call)}",
            done="The event is delivered again.",
        )

    async def _take(
        self,
        call: Call,
        shape: type[Shape],
        work: Callable[[Transaction, Shape, datetime], Awaitable[object]],
        done: Callable[[object], str],
    ) -> Response:
        return await self.desk.change(
            call,
            shape,
            work,
            again=lambda filled: self._webhook(call, TableParameters(), filled),
            to=f"{LIST}/{webhook_id(call)}",
            done=done,
        )

    async def _webhook(self, call: Call, wanted: TableParameters, filled: Filled) -> Response:
        after = read_cursor(wanted.after, int)
        async with self.desk.reading() as tx:
            webhook = await show_webhook(tx, webhook_id(call), call.customer_id)
            before = 0 if after is None else after[1]
            records = await list_deliveries(tx, webhook.id, before, wanted.most, call.customer_id)
        found = list(map(delivery_on_the_wire, records))
        if wanted.is_file:
            return csv_file("deliveries", _FILE_HEADINGS, map(_file_row, found))
        address = self.desk.view(call).at(f"{LIST}/{webhook.id}")
        table = Table.of(call, address, _COLUMNS, found, _LATEST_FIRST, lambda row: cursor_text(row.id, row.id))
        due = webhook.state == "active" and any(_is_due(row, self.desk.clock.now()) for row in table.rows)
        return self.desk.show(
            call, "webhooks/webhook.html", form=filled, webhook=webhook, table=table, due=due, result=result_of
        )

    async def _replay(self, call: Call, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            webhook = await show_webhook(tx, webhook_id(call), call.customer_id)
        return self.desk.show(call, "webhooks/replay.html", form=filled, webhook=webhook)

    async def _delivery(self, call: Call, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            webhook = await show_webhook(tx, webhook_id(call), call.customer_id)
            record = await show_delivery(tx, webhook.id, _delivery_id(call), call.customer_id)
        delivery = delivery_on_the_wire(record)
        return self.desk.show(
            call, "webhooks/delivery.html", form=filled, webhook=webhook, delivery=delivery, result=result_of
        )


def result_of(delivery: Delivery) -> str:
    """Return what became of a delivery, in a word."""
    if delivery.delivered_at is not None:
        return "delivered"
    return "failed" if delivery.attempt else "waiting"


def _is_due(delivery: Delivery, now: datetime) -> bool:
    """Return whether the worker attempts a delivery now."""
    return delivery.next_attempt_at is not None and delivery.next_attempt_at <= now


def _said(state: object) -> str:
    if state == "active":
        return "The webhook is active. It gets all that it has missed."
    return "The webhook is paused. Its events are kept."


def _delivery_id(call: Call) -> int:
    return call.path_id("delivery_id", "delivery")


def _file_row(row: Delivery) -> tuple[object, ...]:
    return (row.id, row.event, row.sequence, row.type, row.subject, row.attempt, row.at, row.status, row.error,
            row.delivered_at, row.next_attempt_at)  # fmt: skip
