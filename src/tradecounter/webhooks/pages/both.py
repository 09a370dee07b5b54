"""`/webhook/{id}`, in the account below `/account/developer`: one webhook, its deliveries, and its forms."""

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct, structs
from starlette.responses import Response

from tradecounter.customers.queries.accounts import find_account
from tradecounter.db.sorted_rows import After
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.forms import EditForm, fields_shown
from tradecounter.edge.page_kit.tables import Cells, Column, Sort, Table, TableParameters, csv_of, cursor_text
from tradecounter.edge.pages.listing import listed
from tradecounter.edge.pages.operation import DEVELOPERS, Rights, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.page_site import BothSites, SharedParts
from tradecounter.edge.pages.step import Question, action, step
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import ID, Parameter
from tradecounter.events.record import ALL_TYPES, CUSTOMER_TYPES
from tradecounter.webhooks.manage import (
    WebhookPolicy,
    add_webhook,
    change_webhook,
    list_deliveries,
    ping_webhook,
    redeliver,
    remove_webhook,
    replay,
    retry_now,
    rotate_webhook_secret,
    show_delivery,
    show_webhook,
)
from tradecounter.webhooks.wire import (
    CreatedWebhook,
    Delivery,
    Description,
    Replay,
    Replayed,
    Types,
    Url,
    Webhook,
    WebhookChange,
    WebhookRequest,
    delivery_on_the_wire,
)

_ONE, _DELIVERY = "/webhook/{id}", "/webhook/{id}/delivery/{delivery_id}"
_ID = (Parameter("id", "The webhook's id.", ID, 3),)
_IDS = (*_ID, Parameter("delivery_id", "The delivery's id.", ID, 812))
_READ: Rights = {"scope": "events:read", "user_roles": DEVELOPERS}
_CHANGE: Rights = {"scope": "events:write", "roles": ("administrator",), "user_roles": DEVELOPERS}
_DELIVERY_COLUMNS = (Column("Event"), Column("Result"), Column("Attempts", numeric=True), Column("Last attempt"))
_DELIVERY_CELLS: Cells = {
    **{name: name for name in ("id", "event", "sequence", "type", "subject")},
    "attempts": "attempt",
    "last_attempt_at": "at",
    **{name: name for name in ("status", "milliseconds", "error", "delivered_at", "next_attempt_at")},
}


class WebhookForm(EditForm):
    """All that can be changed of a webhook: no type that is chosen means all."""

    url: Url
    types: Types
    description: Description = ""


class StateForm(Struct):
    """The state that a webhook gets."""

    state: Literal["active", "paused"]


class WebhookPages(Struct, BothSites, frozen=True):
    """Webhooks and their deliveries. Staff see all, a customer's developers their own."""

    desk: PageDesk
    parts: SharedParts

    @property
    def _policy(self) -> WebhookPolicy:
        return WebhookPolicy.from_settings(self.parts.settings)

    def _path(self, webhook_id: int) -> str:
        return f"{self.root}/webhook/{webhook_id}"

    def _frame(self, call: Call) -> dict[str, Any]:
        """Return what the templates need at each of the two sites."""
        return {"root": self.root, "own": self.owner(call) is not None, "result": result_of}

    def _show_secret(self, call: Call, created_webhook: CreatedWebhook) -> Response:
        return self.desk.show(call, "webhooks/secret.html", webhook=created_webhook, **self._frame(call))

    async def _types(self, call: Call) -> dict[str, Any]:
        types = sorted(ALL_TYPES if self.owner(call) is None else CUSTOMER_TYPES)
        return {"webhook": None, "types": types, **self._frame(call)}

    @step(
        "/webhook/new",
        "Add a webhook",
        template="webhooks/form.html",
        values=_types,
        to="/webhook",
        done="The webhook was added already. Its secret is shown only once; make a new one if you lack it.",
        reveals=_show_secret,
        dangerous=True,
        **_CHANGE,
    )
    async def add(self, tx: Transaction, call: Call, body: WebhookRequest, now: datetime) -> CreatedWebhook:
        owner = self.owner(call)
        wanted = body if owner is None else structs.replace(body, customer_id=owner)
        return await add_webhook(tx, self._policy, wanted, now)

    @page(_ONE, "One webhook", query=TableParameters, path_parameters=_ID, **_READ)
    async def show_one(self, call: Call, filled: Filled) -> Response:
        owner = self.owner(call)
        async with self.desk.reading() as tx:
            webhook = await show_webhook(tx, _id(call), owner)
            account = None
            if owner is None and webhook.customer_id is not None:
                account = await find_account(tx, webhook.customer_id)

        async def find(wanted: TableParameters, _: Sort, after: After) -> list[Delivery]:
            async with self.desk.reading() as tx:
                records = await list_deliveries(tx, webhook.id, None if after is None else after[1], wanted.most, owner)
            return list(map(delivery_on_the_wire, records))

        listing = await listed(call, TableParameters, {"id": int}, "-id", find)
        if listing.is_file:
            return csv_of(f"deliveries-{webhook.id}", _DELIVERY_CELLS, listing.rows)
        table = Table.of(
            call,
            self.desk.view(call).at(self._path(webhook.id)),
            _DELIVERY_COLUMNS,
            listing.rows,
            listing.sort,
            lambda row: cursor_text(row.id, row.id),
        )
        now = self.desk.clock.now()
        due = webhook.state == "active" and any(
            row.next_attempt_at and row.next_attempt_at <= now for row in table.rows
        )
        return self.desk.show(
            call,
            "webhooks/webhook.html",
            form=filled if filled.message or filled.errors else listing.form,
            webhook=webhook,
            table=table,
            due=due,
            customer=account and account.name,
            **self._frame(call),
        )

    async def _webhook(self, tx: Transaction, call: Call) -> dict[str, Any]:
        webhook = await show_webhook(tx, _id(call), self.owner(call))
        types = sorted(ALL_TYPES if webhook.customer_id is None else CUSTOMER_TYPES)
        return {"webhook": webhook, "types": types, "was": fields_shown(WebhookForm, webhook), **self._frame(call)}

    @step(
        f"{_ONE}/edit",
        "Change a webhook",
        template="webhooks/form.html",
        values=_webhook,
        to=_ONE,
        done="The webhook is changed.",
        path_parameters=_ID,
        **_CHANGE,
    )
    async def edit(self, tx: Transaction, call: Call, body: WebhookForm, now: datetime) -> Webhook:
        wanted = WebhookChange(**body.differences())
        return await change_webhook(tx, self._policy, _id(call), wanted, now, self.owner(call))

    @action(
        f"{_ONE}/state",
        "Pause a webhook, or set it active",
        shown=show_one,
        to=_ONE,
        done=lambda webhook: (
            "The webhook is active. It gets what it has missed."
            if webhook.state == "active"
            else "The webhook is paused. Its events are kept."
        ),
        path_parameters=_ID,
        **_CHANGE,
    )
    async def set_state(self, tx: Transaction, call: Call, body: StateForm, now: datetime) -> Webhook:
        change = WebhookChange(state=body.state)
        return await change_webhook(tx, self._policy, _id(call), change, now, self.owner(call))

    @action(
        f"{_ONE}/ping",
        "Send a test delivery",
        shown=show_one,
        to=_ONE,
        done="A test delivery is on its way.",
        path_parameters=_ID,
        **_CHANGE,
    )
    async def ping(self, tx: Transaction, call: Call, now: datetime) -> Delivery:
        return await ping_webhook(tx, _id(call), now, self.owner(call))

    @action(
        f"{_ONE}/retry",
        "Attempt waiting deliveries now",
        shown=show_one,
        to=_ONE,
        done="All waiting deliveries are attempted now.",
        path_parameters=_ID,
        **_CHANGE,
    )
    async def retry(self, tx: Transaction, call: Call, now: datetime) -> None:
        await retry_now(tx, _id(call), now, self.owner(call))

    @step(
        f"{_ONE}/replay",
        "Deliver events again",
        template="webhooks/replay.html",
        values=_webhook,
        to=_ONE,
        done=lambda made: f"Events to deliver again: {made.deliveries:,}.",
        path_parameters=_ID,
        **_CHANGE,
    )
    async def replay(self, tx: Transaction, call: Call, body: Replay, now: datetime) -> Replayed:
        return await replay(tx, _id(call), body, now, self.owner(call))

    async def _question(self, tx: Transaction, call: Call, text: str, button: str, *, danger: bool = False) -> Question:
        webhook = await show_webhook(tx, _id(call), self.owner(call))
        back, name = self._path(webhook.id), f"Webhook {webhook.id}"
        return Question(text=text, button=button, back=back, back_name=name, detail=[webhook.url], danger=danger)

    async def _ask_to_rotate(self, tx: Transaction, call: Call) -> Question:
        text = "For 24 hours, deliveries are signed with the old secret too. Give the receiver the new one by then."
        return await self._question(tx, call, text, "Show a new secret")

    @step(
        f"{_ONE}/secret",
        "Make a new secret",
        asks=_ask_to_rotate,
        to=_ONE,
        done="The secret was made already. It is shown only once; make another one if you did not copy it.",
        reveals=_show_secret,
        dangerous=True,
        path_parameters=_ID,
        **_CHANGE,
    )
    async def rotate(self, tx: Transaction, call: Call, now: datetime) -> CreatedWebhook:
        return await rotate_webhook_secret(tx, self._policy, _id(call), now, self.owner(call))

    async def _ask_to_delete(self, tx: Transaction, call: Call) -> Question:
        text = "It gets no more events, and its deliveries are deleted too. To stop it for a while, pause it instead."
        return await self._question(tx, call, text, "Delete it", danger=True)

    @step(
        f"{_ONE}/delete",
        "Delete a webhook",
        asks=_ask_to_delete,
        to="/webhook",
        done=lambda webhook: f"The webhook of {webhook.url} is deleted.",
        dangerous=True,
        path_parameters=_ID,
        **_CHANGE,
    )
    async def delete(self, tx: Transaction, call: Call, now: datetime) -> Webhook:
        return await remove_webhook(tx, _id(call), now, self.owner(call))

    @page(_DELIVERY, "One delivery", path_parameters=_IDS, **_READ)
    async def show_delivery(self, call: Call, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            webhook = await show_webhook(tx, _id(call), self.owner(call))
            record = await show_delivery(tx, webhook.id, _delivery_id(call), self.owner(call))
        delivery = delivery_on_the_wire(record)
        return self.desk.show(
            call, "webhooks/delivery.html", form=filled, webhook=webhook, delivery=delivery, **self._frame(call)
        )

    @action(
        f"{_DELIVERY}/redeliver",
        "Deliver an event again",
        shown=show_delivery,
        to=lambda made: f"/webhook/{made[0]}/delivery/{made[1].id}",
        done="The event is delivered again. This is the new delivery.",
        path_parameters=_IDS,
        **_CHANGE,
    )
    async def redeliver(self, tx: Transaction, call: Call, now: datetime) -> tuple[int, Delivery]:
        return _id(call), await redeliver(tx, _id(call), _delivery_id(call), now, self.owner(call))


def result_of(delivery: Delivery) -> str:
    """Return what became of a delivery, in a word."""
    if delivery.delivered_at is not None:
        return "delivered"
    return "failed" if delivery.attempt else "waiting"


def _id(call: Call) -> int:
    return call.path_id("id", "webhook")


def _delivery_id(call: Call) -> int:
    return call.path_id("delivery_id", "delivery")
