"""`/account/product/compare`: up to four products side by side."""

from collections.abc import Sequence
from itertools import chain
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.people import BUYER
from tradecounter.edge.rest.call import Call
from tradecounter.kit.keys import key_form
from tradecounter.parts.account import AccountParts
from tradecounter.storefront.pages.account.shop import PATH
from tradecounter.storefront.shown_product import ShownProduct, shown_skus

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


class ComparePages(Struct, frozen=True):
    """Products side by side."""

    desk: PageDesk
    parts: AccountParts

    @page(f"{PATH}/compare", "Compare products", user_roles=BUYER, query=Compared)
    async def compare(self, call: Call) -> Response:
        view = await self.parts.views.of(call.customer_id)
        wanted = list({key_form(sku): sku for sku in call.query(Compared).sku}.values())
        products = shown_skus(view, wanted[:MOST_COMPARED])
        found = {key_form(product.record.sku) for product in products}
        return self.desk.show(
            call,
            "storefront/compare.html",
            products=products,
            rows=compared(products),
            gone=[sku for sku in wanted[:MOST_COMPARED] if key_form(sku) not in found],
            left_out=max(len(wanted) - MOST_COMPARED, 0),
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
