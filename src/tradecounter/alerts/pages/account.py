"""`/account/alert`: which e-mails a user gets: products in stock, prices of lists, parcels, invoices that are due."""

from datetime import datetime

from msgspec import Struct
from starlette.responses import Response

from tradecounter.alerts.queries import (
    AlertKind,
    chosen_alerts_of,
    price_alerts_of,
    remove_price_alert,
    remove_stock_alert,
    stock_alerts_of,
)
from tradecounter.alerts.tell_users import DAYS_BEFORE, choose_emails, follow_prices, set_stock_alert
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.pages.operation import ACCOUNTS, BUYER, page, user_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import action
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import not_found
from tradecounter.parts.account import AccountParts
from tradecounter.saved_lists.queries import SavedList, lock_list

PATH = "/account/alert"
_PRICES = f"{PATH}/prices"


class AlertForm(Struct):
    """The product to wait for."""

    sku: str


class ChosenForm(Struct):
    """Which e-mails the user wants."""

    dispatched: bool = False
    invoices_due: bool = False


class FollowedList(Struct):
    """A list whose prices the user wants to follow."""

    list: int


class AlertPages(Struct, frozen=True):
    """A user's alerts."""

    desk: PageDesk
    parts: AccountParts

    @page(PATH, "Alerts", user_roles=(*BUYER, *ACCOUNTS))
    async def list_alerts(self, call: Call, filled: Filled) -> Response:
        user = user_of(call)
        async with self.desk.reading() as tx:
            stock = await stock_alerts_of(tx, user.id)
            prices = await price_alerts_of(tx, user.id)
            chosen = await chosen_alerts_of(tx, user.id)
        view = await self.parts.views.last(call.customer_id)
        return self.desk.show(
            call,
            "alerts/list.html",
            form=filled,
            alerts=stock,
            sold={alert.product_id for alert in stock if view.find_by_id(alert.product_id) is not None},
            prices=prices,
            chosen=chosen,
            is_buyer=user.has_role(*BUYER),
            pays=user.has_role(*ACCOUNTS),
            days=DAYS_BEFORE,
        )

    @action(
        f"{PATH}/add",
        "Tell me when a product is in stock",
        shown=list_alerts,
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
        shown=list_alerts,
        to=PATH,
        done="The alert is removed.",
        user_roles=BUYER,
    )
    async def remove(self, tx: Transaction, call: Call) -> None:
        product_id = call.path_id("id", "alert")
        if not await remove_stock_alert(tx, user_of(call).id, product_id):
            raise not_found("alert", product_id)

    @action(
        f"{PATH}/choose",
        "Choose e-mails",
        shown=list_alerts,
        to=PATH,
        done="Your choice is saved.",
        user_roles=(*BUYER, *ACCOUNTS),
    )
    async def choose(self, tx: Transaction, call: Call, body: ChosenForm, now: datetime) -> None:
        chosen: dict[AlertKind, bool] = {"dispatched": body.dispatched, "invoices_due": body.invoices_due}
        await choose_emails(tx, user_of(call), [kind for kind, is_wanted in chosen.items() if is_wanted], now)

    @action(
        _PRICES,
        "Follow the prices of a list",
        shown=list_alerts,
        to=lambda found: f"/account/list/{found.id}",
        done=lambda found: f"You get an e-mail when prices of {found.name} change, at most once a day.",
        user_roles=BUYER,
    )
    async def follow(self, tx: Transaction, call: Call, body: FollowedList, now: datetime) -> SavedList:
        user = user_of(call)
        found = await lock_list(tx, user, body.list)
        await follow_prices(tx, user.customer_id, user.id, found.id, now)
        return found

    @action(
        f"{_PRICES}/{{id}}/end",
        "Follow the prices of a list no more",
        shown=list_alerts,
        to=PATH,
        done="You are not told of the prices of this list any more.",
        user_roles=BUYER,
    )
    async def end(self, tx: Transaction, call: Call) -> None:
        list_id = call.path_id("id", "alert")
        if not await remove_price_alert(tx, user_of(call).id, list_id):
            raise not_found("alert", list_id)
