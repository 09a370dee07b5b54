"""`/webhook`: the endpoints of the reseller and of customers, and one endpoint with its deliveries."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.customers.queries.accounts import find_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.page_kit.tables import Column, Sort, Table, TableParameters, csv_file, cursor_text
from tradecounter.edge.pages.listing import After, listed
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import step
from tradecounter.edge.pages.subjects import path_of_subject
from tradecounter.edge.rest.call import Call
from tradecounter.events.types import CUSTOMER_TYPES
from tradecounter.parts.back_office import OfficeParts
from tradecounter.webhooks.manage import (
    WebhookPolicy,
    add_webhook,
    change_webhook,
    list_deliveries,
    remove_webhook,
    rotate_webhook_secret,
    show_webhook,
)
from tradecounter.webhooks.queries.endpoints import Endpoint, endpoints_after
from tradecounter.webhooks.wire import (
    TYPES,
    CreatedWebhook,
    Delivery,
    Description,
    Webhook,
    WebhookChange,
    WebhookRequest,
    delivery_on_the_wire,
)

ADMINISTRATORS = ("administrator",)

_COLUMNS = (Column("Endpoint"), Column("Whose"), Column("Events"), Column("State"), Column("Added"))
_DELIVERY_COLUMNS = (
    Column("Event"),
    Column("About"),
    Column("Attempts", numeric=True),
    Column("Last attempt"),
    Column("Result"),
    Column("Took", numeric=True),
)
_BY_ID = {"id": int}


class WebhookTable(TableParameters, frozen=True, kw_only=True):
    """The filters of webhooks."""

    customer_id: Annotated[int, Meta(ge=1)] | None = None


class DeliveryTable(TableParameters, frozen=True, kw_only=True):
    """The deliveries of a webhook have no filters."""


class WebhookForm(Struct):
    """A webhook as its form has it: no type that is chosen means all."""

    url: str
    types: list[str] = []
    description: Description = ""


@dataclass(frozen=True, slots=True)
class WebhookPages:
    """Endpoints of webhooks."""

    desk: PageDesk
    parts: OfficeParts

    @page("/webhook", "Webhooks", scope="events:read", query=WebhookTable)
    async def list_webhooks(self, call: Call) -> Response:
        async def find(wanted: WebhookTable, _: Sort, after: After) -> list[Endpoint]:
            async with self.desk.reading() as tx:
                return await endpoints_after(tx, 0 if after is None else after[1], wanted.most, wanted.customer_id)

        found = await listed(call, WebhookTable, _BY_ID, "id", find)
        if found.is_file:
            headings = ("id", "customer_id", "url", "types", "state", "reason", "failing_since", "created_at")
            return csv_file("webhooks", headings, map(_file_row, found.rows))
        address = self.desk.view(call).at("/webhook")
        table = Table.of(call, address, _COLUMNS, found.rows, found.sort, lambda row: cursor_text(row.id, row.id))
        return self.desk.show(call, "webhooks/list.html", form=found.form, table=table)

    @step(
        "/webhook/new",
        "Add a webhook",
        shown=lambda self, call, filled: self._show_new(call, filled),
        to="/webhook",
        done="The webhook is added. Its secret was shown once; rotate it to get another one.",
        reveals=lambda self, call, made: self.desk.show(call, "webhooks/secret.html", webhook=made, is_new=True),
        scope="events:write",
        roles=ADMINISTRATORS,
        dangerous=True,
    )
    async def add(self, tx: Transaction, body: WebhookRequest, now: datetime) -> CreatedWebhook:
        return await add_webhook(tx, self._policy, body, now)

    @page("/webhook/{id}", "One webhook", scope="events:read", query=DeliveryTable)
    async def show_one(self, call: Call) -> Response:
        webhook_id = call.path_id("id", "webhook")
        async with self.desk.reading() as tx:
            webhook = await show_webhook(tx, webhook_id)
            account = None if webhook.customer_id is None else await find_account(tx, webhook.customer_id)

        async def find(wanted: DeliveryTable, _: Sort, after: After) -> list[Delivery]:
            async with self.desk.reading() as tx:
                records = await list_deliveries(tx, webhook_id, 0 if after is None else after[1], wanted.most)
            return list(map(delivery_on_the_wire, records))

        found = await listed(call, DeliveryTable, _BY_ID, "-id", find)
        if found.is_file:
            headings = ("id", "event", "type", "subject", "attempt", "at", "status", "milliseconds", "error")
            return csv_file(
                f"deliveries-{webhook_id}", headings, ([getattr(r, h) for h in headings] for r in found.rows)
            )
        table = Table.of(
            call,
            self.desk.view(call).at(f"/webhook/{webhook_id}"),
            _DELIVERY_COLUMNS,
            found.rows,
            found.sort,
            lambda row: cursor_text(row.id, row.id),
        )
        return self.desk.show(
            call, "webhooks/webhook.html", form=found.form, webhook=webhook, table=table,
            customer=None if account is None else account.name,
            path_of=lambda subject: path_of_subject(subject, self.desk.view(call).may),
        )  # fmt: skip

    @step(
        "/webhook/{id}/edit",
        "Change a webhook",
        shown=lambda self, call, filled: self._show(call, "webhooks/edit.html", filled),
        to="/webhook/{id}",
        done="The webhook is changed.",
        scope="events:write",
        roles=ADMINISTRATORS,
    )
    async def edit(self, tx: Transaction, call: Call, body: WebhookForm, now: datetime) -> Webhook:
        webhook_id = call.path_id("id", "webhook")
        wanted = WebhookChange(url=body.url, types=body.types, description=body.description)
        return await change_webhook(tx, self._policy, webhook_id, wanted, now)

    @step(
        "/webhook/{id}/rotate-secret",
        "Rotate a webhook's secret",
        shown=lambda self, call, filled: self._show(call, "webhooks/rotate.html", filled),
        to="/webhook/{id}",
        done="The secret is rotated. It was shown once; rotate it again to get another one.",
        reveals=lambda self, call, made: self.desk.show(call, "webhooks/secret.html", webhook=made, is_new=False),
        roles=ADMINISTRATORS,
        dangerous=True,
    )
    async def rotate(self, tx: Transaction, call: Call, now: datetime) -> CreatedWebhook:
        webhook_id = call.path_id("id", "webhook")
        return await rotate_webhook_secret(tx, self._policy, webhook_id, now)

    @step(
        "/webhook/{id}/delete",
        "Delete a webhook",
        shown=lambda self, call, filled: self._show(call, "webhooks/delete.html", filled),
        to="/webhook",
        done=lambda webhook: f"The webhook of {webhook.url} is deleted.",
        roles=ADMINISTRATORS,
        dangerous=True,
    )
    async def delete(self, tx: Transaction, call: Call, now: datetime) -> Webhook:
        webhook_id = call.path_id("id", "webhook")
        return await remove_webhook(tx, webhook_id, now)

    @property
    def _policy(self) -> WebhookPolicy:
        return WebhookPolicy.from_settings(self.parts.settings)

    async def _show_new(self, call: Call, filled: Filled) -> Response:
        types = sorted(TYPES)
        return self.desk.show(call, "webhooks/new.html", form=filled, types=types, for_customers=CUSTOMER_TYPES)

    async def _show(self, call: Call, template: str, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            webhook = await show_webhook(tx, call.path_id("id", "webhook"))
        types = sorted(TYPES if webhook.customer_id is None else CUSTOMER_TYPES)
        return self.desk.show(call, template, form=filled, webhook=webhook, types=types)


def _file_row(row: Endpoint) -> tuple[object, ...]:
    types = " ".join(row.types)
    return (row.id, row.customer_id, row.url, types, row.state, row.reason, row.failing_since, row.created_at)
