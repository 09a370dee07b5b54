"""`/account/alert`: the products that a user waits for."""

from dataclasses import dataclass
from datetime import datetime

from msgspec import Struct
from starlette.responses import Response

from tradecounter.alerts.queries import remove_stock_alert, stock_alerts_of
from tradecounter.alerts.tell_of_stock import set_stock_alert
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.people import BUYER, user_of
from tradecounter.edge.pages.step import action
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import not_found
from tradecounter.parts.account import AccountParts

PATH = "/account/alert"


class AlertForm(Struct):
    """The product to wait for."""

    sku: str


@dataclass(frozen=True, slots=True)
class AlertPages:
    """A user's alerts."""

    desk: PageDesk
    parts: AccountParts

    @page(PATH, "Alerts", user_roles=BUYER)
    async def list_alerts(self, call: Call) -> Response:
        return await self._show(call, Filled())

    @action(
        f"{PATH}/add",
        "Tell me when a product is in stock",
        shown=lambda self, call, filled: self._show(call, filled),
        to=PATH,
        done=lambda sku: f"You get an e-mail when {sku} is in stock.",
        user_roles=BUYER,
    )
    async def add(self, tx: Transaction, call: Call, body: AlertForm, now: datetime) -> str:
        view = await self.parts.views.of(call.customer_id)
        await set_stock_alert(tx, user_of(call).id, view, body.sku, now)
        return body.sku

    @action(
        f"{PATH}/{{id}}/remove",
        "Remove an alert",
        shown=lambda self, call, filled: self._show(call, filled),
        to=PATH,
        done="The alert is removed.",
        user_roles=BUYER,
    )
    async def remove(self, tx: Transaction, call: Call) -> None:
        product_id = call.path_id("id", "alert")
        if not await remove_stock_alert(tx, user_of(call).id, product_id):
            raise not_found("alert", product_id)

    async def _show(self, call: Call, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            alerts = await stock_alerts_of(tx, user_of(call).id)
        return self.desk.show(call, "alerts/list.html", form=filled, alerts=alerts)
