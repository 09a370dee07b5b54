"""`/account/basket/add`: the form beside each product of the shop, which puts it into the basket."""

import re
from datetime import datetime

from msgspec import Struct
from starlette.responses import Response

from tradecounter.baskets.change_basket import add_to_basket
from tradecounter.baskets.summary import summarise
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled, read_submitted
from tradecounter.edge.pages.operation import form
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.page_view import BASKET
from tradecounter.edge.pages.people import BUYER, user_of
from tradecounter.edge.rest.call import Call
from tradecounter.kit.numbers import read_count
from tradecounter.kit.text import plural
from tradecounter.orders.wire import CreateOrderItem
from tradecounter.parts.account import AccountParts

_HOME = "/account"
_BACK = ("/account/product", "/account/list")  # the pages with the form, and those below them
_ADDRESS = re.compile(r"[!-~]+")


class AddForm(CreateOrderItem):
    """A product, its units, and the page of the shop to go back to."""

    back: str | None = None


class BasketPages(Struct, frozen=True):
    """The form that adds a product."""

    desk: PageDesk
    parts: AccountParts

    @form("/account/basket/add", "Put a product into the basket", user_roles=BUYER)
    async def add(self, call: Call) -> Response:
        submitted = await read_submitted(call)
        user, view = user_of(call), await self.parts.views.of(call.customer_id)
        sku, quantity, back = (submitted.one(name) for name in ("sku", "quantity", "back"))

        async def work(tx: Transaction, body: AddForm, _: datetime) -> AddForm:
            await add_to_basket(tx, user.id, view, [CreateOrderItem(body.sku, body.quantity)])
            return body

        async def shown(filled: Filled, done: str = "") -> Response:
            async with self.desk.reading() as tx:
                call.request.scope[BASKET] = await summarise(tx, user, view)
            return self.desk.show(call, "baskets/added.html", form=filled, sku=sku, back=_page_of(back), done=done)

        def done(body: AddForm) -> str:
            return (
                f"{plural(body.quantity, 'unit')} of {body.sku} {'is' if body.quantity == 1 else 'are'} in your basket."
            )

        response = await self.desk.change(
            call, AddForm, work, again=shown, to=lambda _: _page_of(back), done=done, submitted=submitted
        )
        if "HX-Redirect" in response.headers:  # the page stays as it is, but for this form and the header
            return await shown(Filled(), f"{plural(read_count(quantity), 'unit')} added")
        return response


def _page_of(back: str) -> str:
    """Return a page with products that a form names, or the shop."""
    if not _ADDRESS.fullmatch(back):
        return _BACK[0]
    if back == _HOME:
        return back
    return back if any(back == path or back.startswith((f"{path}?", f"{path}/")) for path in _BACK) else _BACK[0]
