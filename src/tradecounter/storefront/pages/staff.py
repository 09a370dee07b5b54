"""`/customer/{id}/catalogue`: the shop as a customer sees it, with its prices, its stock and its limits, to read."""

from urllib.parse import quote

from msgspec import Struct
from starlette.responses import Response

from tradecounter.access.queries.people import list_users
from tradecounter.customers.operations.staff import present_customer
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.shown import shown_customer
from tradecounter.storefront.facets import ShopParameters
from tradecounter.storefront.pages.both import shown_shelf


class AsCustomerPages(Struct, frozen=True):
    """The shop of a customer, for staff."""

    desk: PageDesk
    parts: OfficeParts

    @page("/customer/{id}/catalogue", "A customer's shop", scope="customers:read", query=ShopParameters)
    async def show_shop(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            shown = await shown_customer(tx, call)
            customer = await present_customer(tx, shown.account, self.desk.clock.now())
            users = await list_users(tx, shown.id)
        view = await self.parts.views.of(shown.id)
        page_view = self.desk.view(call)
        return self.desk.show(
            call,
            "storefront/as_customer.html",
            shown=shown,
            customer=customer,
            limits=[user for user in users if user.order_limit is not None and user.disabled_at is None],
            path_of=lambda sku: page_view.at(f"/product/{quote(sku, safe='')}?customer={shown.id}"),
            **shown_shelf(call, view, page_view.at(f"{shown.path}/catalogue")),
        )
