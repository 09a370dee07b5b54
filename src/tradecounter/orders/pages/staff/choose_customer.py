"""`/order/new`: staff choose the customer for whom they order."""

from typing import Annotated, Literal

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.customers.named_customer import found_customers
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.orders.operations.staff import SELLERS
from tradecounter.parts.back_office import OfficeParts

_MOST_CHOICES = 25


class ChoiceParameters(Struct, frozen=True):
    """The query parameters of the page on which the customer is chosen, by a text or its id.

    `quote` is the wish for a quote; `live` shows who is found while the text is typed, also one customer.
    """

    customer: str | None = None
    customer_id: Annotated[int, Meta(ge=1)] | None = None
    quote: Literal["true"] | None = None
    live: Literal["1"] | None = None


class ChooseCustomerPages(Struct, frozen=True):
    """The page before the form of an order for a caller."""

    desk: PageDesk
    parts: OfficeParts

    @page("/order/new", "A new order", scope="orders:write", roles=SELLERS, query=ChoiceParameters)
    async def choose_customer(self, call: Call) -> Response:
        wanted = call.query(ChoiceParameters)
        way = "" if wanted.quote is None else "?quote=true"
        if wanted.customer_id is not None:
            return self.desk.go(call, f"/order/new/{wanted.customer_id}{way}")
        text = wanted.customer or ""
        found = []
        if text.strip():
            async with self.desk.reading() as tx:
                found = await found_customers(tx, text, _MOST_CHOICES)
        if len(found) == 1 and wanted.live is None:
            return self.desk.go(call, f"/order/new/{found[0].id}{way}")
        values = {"customer": [text]} if text else {}
        return self.desk.show(
            call,
            "orders/choose.html",
            form=Filled(values),
            found=found,
            asked=bool(text.strip()),
            way=way,
            live=wanted.live is not None,
        )
