"""`/account/product`: the catalogue at the customer's prices; `/account/product/{sku}`: one product."""

from msgspec import Struct
from starlette.responses import Response

from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.people import BUYER
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import TEXT, Parameter
from tradecounter.kit.errors import not_found
from tradecounter.kit.numbers import count_or_nothing
from tradecounter.orders.queries.lines import find_last_bought
from tradecounter.orders.wire import MOST_UNITS
from tradecounter.parts.account import AccountParts
from tradecounter.storefront.facets import ShopParameters
from tradecounter.storefront.pages.both.shelf import shown_shelf
from tradecounter.storefront.shown_product import ShownLine, shown_skus

PATH = "/account/product"
_MOST_RELATED = 12
_SKU = Parameter("sku", "The product's SKU, percent-encoded.", TEXT, "CV-320P", takes_slashes=True)


class WantedUnits(Struct, frozen=True):
    """For how many units a product's page says the price; 1 for texts that are no such number."""

    quantity: str = "1"


class ShopPages(Struct, frozen=True):
    """The catalogue and its products."""

    desk: PageDesk
    parts: AccountParts

    @page(PATH, "Products", user_roles=BUYER, query=ShopParameters)
    async def show_catalogue(self, call: Call) -> Response:
        view = await self.parts.views.of(call.customer_id)
        shown = shown_shelf(call, view, self.desk.view(call).at(PATH))
        return self.desk.show(call, "storefront/catalogue.html", **shown)

    @page(PATH + "/{sku}", "One product", user_roles=BUYER, path_parameters=(_SKU,), query=WantedUnits)
    async def show_product(self, call: Call) -> Response:
        view = await self.parts.views.of(call.customer_id)
        sku = call.path_text("sku", "product")
        shown = shown_skus(view, [sku])
        if not shown:
            raise not_found("product", sku)
        product = shown[0]
        units = count_or_nothing(call.query(WantedUnits).quantity, MOST_UNITS) or 1
        async with self.desk.reading() as tx:
            bought = await find_last_bought(tx, call.customer_id, product.record.id)
        return self.desk.show(
            call,
            "storefront/product.html",
            product=product,
            line=ShownLine(product, units),
            bought=bought,
            related=shown_skus(view, product.record.related_products[:_MOST_RELATED]),
            similar=shown_skus(view, product.record.similar_products[:_MOST_RELATED]),
        )
