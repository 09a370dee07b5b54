"""`/account/developer/webhook`: the customer's webhooks and their secrets."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.own_roles import DEVELOPER_HOME, DEVELOPERS
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import step
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import ID, Parameter
from tradecounter.events.types import CUSTOMER_TYPES
from tradecounter.parts.account import AccountParts
from tradecounter.webhooks.manage import (
    WebhookPolicy,
    add_webhook,
    change_webhook,
    remove_webhook,
    rotate_webhook_secret,
    show_webhook,
)
from tradecounter.webhooks.queries.endpoints import endpoints_after
from tradecounter.webhooks.rules import MOST_OF_AN_OWNER
from tradecounter.webhooks.wire import (
    CreatedWebhook,
    Description,
    Types,
    Url,
    WebhookChange,
    WebhookRequest,
    webhook_on_the_wire,
)

LIST = f"{DEVELOPER_HOME}/webhook"
ONE = f"{LIST}/{{id}}"
WEBHOOK_ID = Parameter("id", "The webhook's id.", ID, 3)

_ID = (WEBHOOK_ID,)


class WebhookForm(Struct):
    """An endpoint, or all that can be changed of one."""

    url: Url
    types: Types = []
    description: Description = ""


def webhook_id(call: Call) -> int:
    """Return the id in the path. Raises DomainError (not found)."""
    return call.path_id("id", "webhook")


@dataclass(frozen=True, slots=True)
class WebhookPages:
    """The customer's webhooks."""

    desk: PageDesk
    parts: AccountParts

    @property
    def policy(self) -> WebhookPolicy:
        """Where webhooks may be, and the vault with their secrets."""
        return WebhookPolicy.from_settings(self.parts.settings)

    @page(LIST, "Webhooks", user_roles=DEVELOPERS)
    async def list_webhooks(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            found = await endpoints_after(tx, 0, MOST_OF_AN_OWNER, call.customer_id)
        return self.desk.show(call, "webhooks/webhooks.html", webhooks=list(map(webhook_on_the_wire, found)))

    @step(
        f"{LIST}/new",
        "New webhook",
        shown=lambda self, call, filled: self._new(call, filled),
        to=LIST,
        done="The webhook was added already. Its secret is shown only once; make a new one if you lack it.",
        reveals=lambda self, call, made: self._secret(call, made),
        user_roles=DEVELOPERS,
        dangerous=True,
    )
    async def make(self, tx: Transaction, call: Call, body: WebhookForm, now: datetime) -> CreatedWebhook:
        wanted = WebhookRequest(
            url=body.url, types=body.types, description=body.description, customer_id=call.customer_id
        )
        return await add_webhook(tx, self.policy, wanted, now)

    @step(
        f"{ONE}/edit",
        "Change a webhook",
        shown=lambda self, call, filled: self._show(call, filled, "edit_webhook", types=sorted(CUSTOMER_TYPES)),
        to=f"{LIST}/{{id}}",
        done="The webhook is changed.",
        user_roles=DEVELOPERS,
        path_parameters=_ID,
    )
    async def edit(self, tx: Transaction, call: Call, body: WebhookForm, now: datetime) -> None:
        wanted = WebhookChange(url=body.url, types=body.types, description=body.description.strip())
        await change_webhook(tx, self.policy, webhook_id(call), wanted, now, call.customer_id)

    @step(
        f"{ONE}/secret",
        "New secret",
        shown=lambda self, call, filled: self._show(call, filled, "new_secret"),
        to=f"{LIST}/{{id}}",
        done="The secret was made already. It is shown only once; make another one if you did not copy it.",
        reveals=lambda self, call, made: self._secret(call, made),
        user_roles=DEVELOPERS,
        path_parameters=_ID,
        dangerous=True,
    )
    async def rotate(self, tx: Transaction, call: Call, now: datetime) -> CreatedWebhook:
        return await rotate_webhook_secret(tx, self.policy, webhook_id(call), now, call.customer_id)

    @step(
        f"{ONE}/delete",
        "Delete a webhook",
        shown=lambda self, call, filled: self._show(call, filled, "delete_webhook"),
        to=LIST,
        done="The webhook is deleted.",
        user_roles=DEVELOPERS,
        path_parameters=_ID,
    )
    async def delete(self, tx: Transaction, call: Call, now: datetime) -> None:
        await remove_webhook(tx, webhook_id(call), now, call.customer_id)

    async def _new(self, call: Call, filled: Filled) -> Response:
        return self.desk.show(call, "webhooks/new_webhook.html", form=filled, types=sorted(CUSTOMER_TYPES))

    def _secret(self, call: Call, made: CreatedWebhook) -> Response:
        return self.desk.show(call, "webhooks/secret.html", webhook=made)

    async def _show(self, call: Call, filled: Filled, template: str, **values: Any) -> Response:
        async with self.desk.reading() as tx:
            webhook = await show_webhook(tx, webhook_id(call), call.customer_id)
        return self.desk.show(call, f"webhooks/{template}.html", form=filled, webhook=webhook, **values)
