"""`/account/basket`: the form that puts a product into the basket, and a link for a colleague."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated
from urllib.parse import urlencode

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.baskets.change_basket import add_to_basket, add_what_is_sold, summarise
from tradecounter.baskets.queries import lines_of_basket
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.submitted_forms import read_submitted
from tradecounter.edge.pages.operation import BUYER, form, page, user_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.page_view import BASKET
from tradecounter.edge.pages.step import action
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import invalid, named_by
from tradecounter.kit.money import NOTHING
from tradecounter.kit.numbers import UnreadableNumberError, read_count
from tradecounter.kit.text import plural
from tradecounter.orders.wire import LONGEST_SKU, MOST_ITEMS, MOST_UNITS, CreateOrderItem
from tradecounter.parts.account import AccountParts
from tradecounter.storefront.shown_product import ShownLine, ShownProduct

_HOME = "/account"
_BACK = ("/account/product", "/account/list")  # the pages with the form, and those below them
_ADDRESS = re.compile(r"[!-~]+")


_FIELDS = {"items[0].sku": "sku", "items": "quantity"}  # of the form that adds one product


class AddForm(CreateOrderItem):
    """A product, its units, and the page of the shop to go back to."""

    back: str | None = None


_LINK, _SHARED = "/account/basket/link", "/account/basket/shared"
_LONGEST_QUERY = 4_000  # characters; what e-mail programs and proxies pass on


class SharedBasket(Struct, frozen=True):
    """What is in the link.

    The link has the SKUs and the units themselves, so it needs no store and stays good; whoever opens it sees own
    prices.
    """

    item: Annotated[tuple[str, ...], Meta(description="Units, a colon, and a SKU, such as `2:PHONE`.")] = ()


class SharedItems(Struct):
    """The products to add."""

    items: Annotated[list[CreateOrderItem], Meta(max_length=MOST_ITEMS)] = []


class BasketPages(Struct, frozen=True):
    """The form that adds a product, and a basket that is shared."""

    desk: PageDesk
    parts: AccountParts

    @form("/account/basket/add", "Put a product into the basket", user_roles=BUYER)
    async def add(self, call: Call) -> Response:
        submitted = await read_submitted(call)
        user, view = user_of(call), await self.parts.views.of(call.customer_id)
        sku, quantity, back = (submitted.one(name) for name in ("sku", "quantity", "back"))

        async def work(tx: Transaction, body: AddForm, _: datetime) -> AddForm:
            with named_by(_FIELDS.__getitem__):
                await add_to_basket(tx, user.id, view, [CreateOrderItem(body.sku, body.quantity)])
            return body

        async def shown(filled: Filled, done: str = "") -> Response:
            async with self.desk.reading() as tx:
                call.request.scope[BASKET] = await summarise(tx, user, view)
            return self.desk.show(call, "baskets/added.html", form=filled, sku=sku, back=_page_of(back), done=done)

        def done(body: AddForm) -> str:
            return f"{plural(body.quantity, 'unit')} of {body.sku} added to your basket."

        response = await self.desk.change(
            call, AddForm, work, again=shown, to=lambda _: _page_of(back), done=done, submitted=submitted
        )
        if "HX-Redirect" in response.headers:  # the page stays as it is, but for this form and the header
            return await shown(Filled(), f"{plural(read_count(quantity), 'unit')} added")
        return response

    @page(_LINK, "Send a colleague a link", user_roles=BUYER)
    async def show_link(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            lines = await lines_of_basket(tx, user_of(call).id)
        query = urlencode([("item", f"{line.quantity}:{line.sku}") for line in lines])
        path = f"{_SHARED}?{query}" if lines and len(query) <= _LONGEST_QUERY else ""
        return self.desk.show(call, "baskets/link.html", path=path, link=f"{call.base_url}{path}", lines=lines)

    @page(_SHARED, "The basket of a colleague", user_roles=BUYER, query=SharedBasket)
    async def show_shared(self, call: Call, filled: Filled) -> Response:
        items = _items(call.query(SharedBasket).item)
        view = await self.parts.views.of(call.customer_id)
        query = urlencode([("item", f"{item.quantity}:{item.sku}") for item in items])
        products = [(item, view.find(item.sku)) for item in items]
        lines = [ShownLine(ShownProduct(view, *known), item.quantity) for item, known in products if known is not None]
        return self.desk.show(
            call,
            "baskets/shared.html",
            form=filled,
            lines=lines,
            gone=[item.sku for item, known in products if known is None],
            net=sum((line.net for line in lines), NOTHING),
            address=f"{_SHARED}?{query}",
        )

    @action(
        _SHARED,
        "Add the basket of a colleague",
        shown=show_shared,
        to="/account/new-order",
        done=str,
        user_roles=BUYER,
    )
    async def add_shared(self, tx: Transaction, call: Call, body: SharedItems) -> str:
        return await add_what_is_sold(tx, user_of(call).id, await self.parts.views.of(call.customer_id), body.items)


def _page_of(back: str) -> str:
    """Return a page with products that a form names, or the shop."""
    if not _ADDRESS.fullmatch(back):
        return _BACK[0]
    if back == _HOME:
        return back
    return back if any(back == path or back.startswith((f"{path}?", f"{path}/")) for path in _BACK) else _BACK[0]


def _items(written: Sequence[str]) -> list[CreateOrderItem]:
    """Return the items of a link. Raises DomainError (invalid)."""
    if len(written) > MOST_ITEMS:
        raise invalid("item", f"must be there at most {MOST_ITEMS} times")
    items = []
    for each in written:
        units, _, sku = each.partition(":")
        try:
            quantity = read_count(units)
        except UnreadableNumberError as error:
            raise invalid("item", f"must be units, a colon and a SKU, such as 2:PHONE: {error}") from error
        if not 1 <= quantity <= MOST_UNITS or not 1 <= len(sku.strip()) <= LONGEST_SKU:
            raise invalid("item", f"must be 1 to {MOST_UNITS:,} units, a colon and a SKU, such as 2:PHONE")
        items.append(CreateOrderItem(sku.strip(), quantity))
    return items
