"""`/account/basket/link`: a link with what is in the basket, and the page that it opens for a colleague.

The link has the SKUs and the units themselves, so it needs no store and stays good; whoever opens it sees own prices.
"""

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import urlencode

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.baskets.change_basket import add_what_is_sold
from tradecounter.baskets.queries import lines_of_basket
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.people import BUYER, user_of
from tradecounter.edge.pages.step import action
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import invalid
from tradecounter.kit.money import NOTHING
from tradecounter.kit.numbers import UnreadableNumberError, read_count
from tradecounter.orders.wire import LONGEST_SKU, MOST_ITEMS, MOST_UNITS, CreateOrderItem
from tradecounter.parts.account import AccountParts
from tradecounter.storefront.shown_product import ShownLine, ShownProduct

_LINK, _SHARED = "/account/basket/link", "/account/basket/shared"
_LONGEST_QUERY = 4_000  # characters; what e-mail programs and proxies pass on


class SharedBasket(Struct, frozen=True):
    """What is in the link."""

    item: Annotated[tuple[str, ...], Meta(description="Units, a colon, and a SKU, such as `2:PHONE`.")] = ()


class SharedItems(Struct):
    """The products to add."""

    items: Annotated[list[CreateOrderItem], Meta(max_length=MOST_ITEMS)] = []


class SharePages(Struct, frozen=True):
    """A basket that is shared."""

    desk: PageDesk
    parts: AccountParts

    @page(_LINK, "Send a colleague a link", user_roles=BUYER)
    async def show_link(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            lines = await lines_of_basket(tx, user_of(call).id)
        query = urlencode([("item", f"{line.quantity}:{line.sku}") for line in lines])
        path = f"{_SHARED}?{query}" if lines and len(query) <= _LONGEST_QUERY else ""
        return self.desk.show(call, "baskets/link.html", path=path, link=f"{call.base_url}{path}", lines=lines)

    @page(_SHARED, "The basket of a colleague", user_roles=BUYER, query=SharedBasket)
    async def show_shared(self, call: Call) -> Response:
        return await self._show(call, Filled(), _items(call.query(SharedBasket).item))

    @action(
        _SHARED,
        "Add the basket of a colleague",
        shown=lambda self, call, filled: self._show(call, filled, _items(call.query(SharedBasket).item)),
        to="/account/new-order",
        done=str,
        user_roles=BUYER,
    )
    async def add(self, tx: Transaction, call: Call, body: SharedItems) -> str:
        return await add_what_is_sold(tx, user_of(call).id, await self.parts.views.of(call.customer_id), body.items)

    async def _show(self, call: Call, filled: Filled, items: Sequence[CreateOrderItem]) -> Response:
        view = await self.parts.views.of(call.customer_id)
        query = urlencode([("item", f"{item.quantity}:{item.sku}") for item in items])
        found = [(item, view.find(item.sku)) for item in items]
        lines = [ShownLine(ShownProduct(view, *known), item.quantity) for item, known in found if known is not None]
        return self.desk.show(
            call,
            "baskets/shared.html",
            form=filled,
            lines=lines,
            gone=[item.sku for item, known in found if known is None],
            net=sum((line.net for line in lines), NOTHING),
            address=f"{_SHARED}?{query}",
        )


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
            raise invalid("item", f"must be 1 to {MOST_UNITS} units, a colon and a SKU, such as 2:PHONE")
        items.append(CreateOrderItem(sku.strip(), quantity))
    return items
