"""`/account/product`: the catalogue at the customer's prices, one product, and up to four side by side."""

from collections.abc import Sequence
from itertools import chain
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.edge.pages.operation import BUYER, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import TEXT, Parameter
from tradecounter.kit.errors import not_found
from tradecounter.kit.keys import key_form
from tradecounter.kit.numbers import count_or_nothing
from tradecounter.orders.queries.orders import find_last_bought
from tradecounter.orders.wire import MOST_UNITS
from tradecounter.parts.account import AccountParts
from tradecounter.storefront.facets import ShopParameters
from tradecounter.storefront.pages.both import shown_shelf
from tradecounter.storefront.shown_product import ShownLine, ShownProduct, shown_skus

PATH = "/account/product"
_MOST_RELATED = 12
_SKU = Parameter("sku", "The product's SKU, percent-encoded.", TEXT, "CV-320P", takes_slashes=True)


class WantedUnits(Struct, frozen=True):
    """For how many units a product's page says the price; 1 for texts that are no such number."""

    quantity: str = "1"


MOST_COMPARED = 4


class Compared(Struct, frozen=True):
    """The products to compare."""

    sku: Annotated[tuple[str, ...], Meta(description="A SKU; the first four are compared.")] = ()


class Row(Struct, frozen=True):
    """A property with its value for each product, empty for those without it."""

    name: str
    values: Sequence[str]

    @property
    def differs(self) -> bool:
        """Whether the products have different values."""
        return len(set(self.values)) > 1


class ShopPages(Struct, frozen=True):
    """The catalogue, its products, and products side by side."""

    desk: PageDesk
    parts: AccountParts

    @page(PATH, "Products", user_roles=BUYER, query=ShopParameters)
    async def show_catalogue(self, call: Call) -> Response:
        view = await self.parts.views.of(call.customer_id)
        shelf = shown_shelf(call, view, self.desk.view(call).at(PATH))
        return self.desk.show(call, "storefront/catalogue.html", **shelf)

    @page(f"{PATH}/compare", "Compare products", user_roles=BUYER, query=Compared)
    async def compare(self, call: Call) -> Response:
        view = await self.parts.views.of(call.customer_id)
        wanted = list({key_form(sku): sku for sku in call.query(Compared).sku}.values())
        products = shown_skus(view, wanted[:MOST_COMPARED])
        keys = {key_form(product.record.sku) for product in products}
        return self.desk.show(
            call,
            "storefront/compare.html",
            products=products,
            rows=compared(products),
            gone=[sku for sku in wanted[:MOST_COMPARED] if key_form(sku) not in keys],
            left_out=max(len(wanted) - MOST_COMPARED, 0),
        )

    @page(PATH + "/{sku}", "One product", user_roles=BUYER, path_parameters=(_SKU,), query=WantedUnits)
    async def show_product(self, call: Call) -> Response:
        view = await self.parts.views.of(call.customer_id)
        sku = call.path_text("sku", "product")
        skus = shown_skus(view, [sku])
        if not skus:
            raise not_found("product", sku)
        product = skus[0]
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


def compared(products: Sequence[ShownProduct]) -> list[Row]:
    """Return what the products' records say of them, a row for each property that any of them has."""
    names = dict.fromkeys(chain.from_iterable(product.record.attributes for product in products))
    rows = [
        Row("Manufacturer", [product.manufacturer for product in products]),
        Row("Category", [", ".join(name for _, name in product.categories) for product in products]),
        *(Row(name, [_in_words(product.record.attributes.get(name, "")) for product in products]) for name in names),
        Row("Weight, boxed", [_weight(product) for product in products]),
    ]
    return [row for row in rows if any(row.values)]


def _in_words(value: str) -> str:
    return {"true": "Yes", "false": "No"}.get(value, value)


def _weight(product: ShownProduct) -> str:
    weight = product.record.weight_kg
    return f"{weight} kg" if weight else ""
