"""`/account/list`: the lists that a user keeps to order from, and what the customer usually orders."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from tradecounter.alerts.queries import price_alerts_of
from tradecounter.baskets.change_basket import add_what_is_sold
from tradecounter.baskets.queries import lines_of_basket
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.pages.operation import BUYER, page, user_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import Question, action, step
from tradecounter.edge.rest.call import Call
from tradecounter.kit.digest import seen_of
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.money import NOTHING
from tradecounter.kit.numbers import read_id
from tradecounter.orders.queries.orders import fetch_own_order_by_name, lines_of_order
from tradecounter.orders.wire import CreateOrderItem
from tradecounter.parts.account import AccountParts
from tradecounter.saved_lists.manage_lists import (
    ListDetails,
    ListName,
    add_to_list,
    change_list,
    create_list,
    remove_list,
)
from tradecounter.saved_lists.queries import (
    ListLine,
    SavedList,
    fetch_list,
    lines_of_list,
    lists_of,
    lock_list,
    usual_items,
)
from tradecounter.storefront.shown_product import shown_lines

PATH = "/account/list"
_NEW = f"{PATH}/new"
_ADD = f"{PATH}/add"
_USUAL = f"{PATH}/usual"
_ONE = f"{PATH}/{{id}}"
_BASKET = "basket"
_MOST_USUAL = 60


class Source(Struct, frozen=True):
    """What a new list begins with: the basket, or the lines of an order or a quote, by its name."""

    source: str | None = None


class WantedProduct(Struct, frozen=True):
    """The product to put into a list, and its units."""

    sku: str | None = None
    quantity: str | None = None


class AddToList(CreateOrderItem):
    """A product, its units, and a list by its id, or the name of a new one."""

    list: str = ""
    name: ListName | None = None


class ChangedList(ListDetails):
    """A list that was changed; `seen` is the digest of what the form has shown."""

    seen: str = ""


class SavedListPages(Struct, frozen=True):
    """Lists, and what is done with them."""

    desk: PageDesk
    parts: AccountParts

    async def _usual(self, tx: Transaction, call: Call) -> list[ListLine]:
        return await usual_items(tx, call.customer_id, self.desk.clock.now(), _MOST_USUAL)

    @page(PATH, "Lists", user_roles=BUYER)
    async def show_lists(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            saved_lists = await lists_of(tx, user_of(call))
            usual = await self._usual(tx, call)
        return self.desk.show(call, "saved_lists/lists.html", lists=saved_lists, usual=len(usual))

    async def _new_list(self, tx: Transaction, call: Call) -> dict[str, Any]:
        source = call.query(Source).source
        lines = [] if source is None else await _lines_of_source(tx, call, source)
        return _form_of(None, lines)

    @step(
        _NEW,
        "New list",
        template="saved_lists/form.html",
        values=_new_list,
        to=lambda list_id: f"{PATH}/{list_id}",
        done="The list is saved.",
        user_roles=BUYER,
    )
    async def create(self, tx: Transaction, call: Call, body: ListDetails, now: datetime) -> int:
        return await create_list(tx, user_of(call), await self.parts.views.of(call.customer_id), body, now)

    async def _lists_to_add_to(self, tx: Transaction, call: Call, filled: Filled) -> dict[str, Any]:
        wanted = call.query(WantedProduct)
        return {
            "sku": filled.value("sku", wanted.sku),
            "quantity": wanted.quantity or 1,
            "lists": [(str(saved_list.id), saved_list.name) for saved_list in await lists_of(tx, user_of(call))],
        }

    @step(
        _ADD,
        "Add to a list",
        template="saved_lists/add.html",
        values=_lists_to_add_to,
        to=lambda list_id: f"{PATH}/{list_id}",
        done="It is in the list.",
        user_roles=BUYER,
    )
    async def add(self, tx: Transaction, call: Call, body: AddToList, now: datetime) -> int:
        user = user_of(call)
        view = await self.parts.views.of(call.customer_id)
        list_id = read_id(body.list)
        if list_id is None:
            list_id = await create_list(tx, user, view, ListDetails(body.name or ""), now)
        return (await add_to_list(tx, user, view, list_id, CreateOrderItem(body.sku, body.quantity), now)).id

    async def _show(
        self,
        call: Call,
        filled: Filled,
        lines: Sequence[ListLine],
        title: str,
        path: str,
        saved_list: SavedList | None = None,
        *,
        is_followed: bool = False,
    ) -> Response:
        view = await self.parts.views.of(call.customer_id)
        products = shown_lines(view, ((line.product_id, line.quantity) for line in lines))
        known = {line.product.record.id for line in products}
        return self.desk.show(
            call,
            "saved_lists/list.html",
            form=filled,
            lines=products,
            gone=[line.sku for line in lines if line.product_id not in known],
            net=sum((line.net for line in products), NOTHING),
            title=title,
            path=path,
            found=saved_list,
            is_followed=is_followed,
        )

    @page(_USUAL, "Usual items", user_roles=BUYER)
    async def show_usual(self, call: Call, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            lines = await self._usual(tx, call)
        return await self._show(call, filled, lines, "Usual items", _USUAL)

    @page(_ONE, "One list", user_roles=BUYER)
    async def show_list(self, call: Call, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            saved_list = await fetch_list(tx, user_of(call), _id(call))
            lines = await lines_of_list(tx, saved_list.id)
            followed = {alert.list_id for alert in await price_alerts_of(tx, user_of(call).id)}
        path = f"{PATH}/{saved_list.id}"
        is_followed = saved_list.id in followed
        return await self._show(call, filled, lines, saved_list.name, path, saved_list, is_followed=is_followed)

    @action(
        f"{_USUAL}/basket",
        "Add the usual items to the basket",
        shown=show_usual,
        to="/account/new-order",
        done=str,
        user_roles=BUYER,
    )
    async def usual_to_basket(self, tx: Transaction, call: Call) -> str:
        return await self._to_basket(tx, call, await self._usual(tx, call))

    @action(
        f"{_ONE}/basket",
        "Add a list to the basket",
        shown=show_list,
        to="/account/new-order",
        done=str,
        user_roles=BUYER,
    )
    async def to_basket(self, tx: Transaction, call: Call) -> str:
        saved_list = await fetch_list(tx, user_of(call), _id(call))
        return await self._to_basket(tx, call, await lines_of_list(tx, saved_list.id))

    async def _list_to_change(self, tx: Transaction, call: Call) -> dict[str, Any]:
        saved_list = await fetch_list(tx, user_of(call), _id(call))
        return _form_of(saved_list, [(line.sku, line.quantity) for line in await lines_of_list(tx, saved_list.id)])

    @step(
        f"{_ONE}/change",
        "Change a list",
        template="saved_lists/form.html",
        values=_list_to_change,
        to=_ONE,
        done="The list is changed.",
        user_roles=BUYER,
    )
    async def change(self, tx: Transaction, call: Call, body: ChangedList, now: datetime) -> None:
        user = user_of(call)
        await lock_list(tx, user, _id(call))
        if body.seen and body.seen != (await self._list_to_change(tx, call))["seen"]:
            problem = "someone else has changed the list since it was shown: open it again for what is new"
            raise DomainError(Kind.CONFLICT, problem)
        await change_list(tx, user, await self.parts.views.of(call.customer_id), _id(call), body, now)

    async def _ask_to_delete(self, tx: Transaction, call: Call) -> Question:
        saved_list = await fetch_list(tx, user_of(call), _id(call))
        return Question(
            title=f"Delete {saved_list.name}?",
            text="It is deleted for all users of your company." if saved_list.shared else "Only you can see it.",
            button="Delete the list",
            back=f"{PATH}/{saved_list.id}",
            back_name=saved_list.name,
            danger=True,
        )

    @step(
        f"{_ONE}/delete",
        "Delete a list",
        asks=_ask_to_delete,
        to=PATH,
        done="The list is deleted.",
        user_roles=BUYER,
    )
    async def delete(self, tx: Transaction, call: Call, now: datetime) -> None:
        await remove_list(tx, user_of(call), _id(call), now)

    async def _to_basket(self, tx: Transaction, call: Call, lines: Sequence[ListLine]) -> str:
        view = await self.parts.views.of(call.customer_id)
        items = [CreateOrderItem(line.sku, line.quantity) for line in lines]
        return await add_what_is_sold(tx, user_of(call).id, view, items)


def _form_of(saved_list: SavedList | None, lines: Iterable[tuple[str, int]]) -> dict[str, Any]:
    """Return what the form of a list shows; None is a new one."""
    text = "\n".join(f"{sku}\t{quantity}" for sku, quantity in lines)
    return {
        "title": "New list" if saved_list is None else "Change the list",
        "name": "" if saved_list is None else saved_list.name,
        "shared": saved_list is not None and saved_list.shared,
        "text": text,
        "seen": "" if saved_list is None else seen_of([saved_list.name, saved_list.shared, text]),
        "back": PATH if saved_list is None else f"{PATH}/{saved_list.id}",
        "back_name": "Lists" if saved_list is None else saved_list.name,
    }


async def _lines_of_source(tx: Transaction, call: Call, source: str) -> list[tuple[str, int]]:
    if source == _BASKET:
        return [(line.sku, line.quantity) for line in await lines_of_basket(tx, user_of(call).id)]
    order = await fetch_own_order_by_name(tx, call.customer_id, source)
    return [(line.sku, line.quantity or line.cancelled) for line in await lines_of_order(tx, order.id)]


def _id(call: Call) -> int:
    return call.path_id("id", "list")
