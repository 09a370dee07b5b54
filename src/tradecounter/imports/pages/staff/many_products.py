"""`/product-change`: makes the same change of several products that were ticked in the list."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated
from urllib.parse import parse_qsl, urlencode

from msgspec import Meta, Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.submitted_forms import read_submitted
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.imports.from_forms import ProductsChange, change_products
from tradecounter.imports.kinds import IMPORTERS
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.keys import key_form
from tradecounter.kit.text import plural
from tradecounter.parts.back_office import OfficeParts
from tradecounter.products.on_pages import categories_in_tree
from tradecounter.products.queries.products import fetch_product_rows
from tradecounter.products.queries.records import read_reference
from tradecounter.stock.queries.stock import stock_levels_of

_PATH = "/product-change"
_MOST = 50


class ChosenProducts(Struct, frozen=True):
    """The products that were ticked, and the address of the list."""

    sku: Annotated[tuple[str, ...], Meta(description="SKUs.")] = ()
    back: str = ""


class ManyProductsPages(Struct, frozen=True):
    """The form that changes several products."""

    desk: PageDesk
    parts: OfficeParts

    @page(_PATH, "Change several products", scope="catalogue:write", roles=IMPORTERS, query=ChosenProducts)
    async def show_chosen(self, call: Call) -> Response:
        wanted = call.query(ChosenProducts)
        return await self._show(call, Filled(), wanted.sku, _list(wanted.back))

    @form(_PATH, "Change several products", scope="catalogue:write", roles=IMPORTERS)
    async def change(self, call: Call) -> Response:
        submitted = await read_submitted(call)
        back = _list(submitted.one("back"))
        shown = submitted.values.get("shown", ())

        async def work(tx: Transaction, body: ProductsChange, now: datetime) -> int:
            return await change_products(tx, replace(body, skus=_chosen_skus(body.skus)), now)

        return await self.desk.change(
            call,
            ProductsChange,
            work,
            again=lambda filled: self._show(call, filled, shown, back),
            to=back,
            done=_done_message,
            submitted=submitted,
        )

    async def _show(self, call: Call, filled: Filled, skus: Sequence[str], back: str) -> Response:
        chosen = _chosen_skus(skus)
        async with self.desk.reading() as tx:
            products = await fetch_product_rows(tx, chosen)
            levels = await stock_levels_of(tx, list(products))
            categories = (await read_reference(tx)).categories
        return self.desk.show(
            call,
            "imports/many_products.html",
            form=filled,
            products=sorted(products.items()),
            levels=levels,
            names={category.key: category.name for category in categories},
            categories=categories_in_tree(categories),
            back=back,
        )


def _chosen_skus(skus: Sequence[str]) -> list[str]:
    """Return SKUs, each once. Raises DomainError (invalid): none, or too many."""
    sku_of_key = {key_form(sku): sku for each in skus if (sku := text("sku", each))}
    if not 0 < len(sku_of_key) <= _MOST:
        raise DomainError(Kind.INVALID, f"tick 1 to {_MOST} products")
    return list(sku_of_key.values())


def _list(address: str) -> str:
    """Return the path of the list with the filters of an address; the address may be any text."""
    _, _, query = address.partition("?")
    filters = urlencode(parse_qsl(query, errors="replace"))
    return f"/product?{filters}" if filters else "/product"


def _done_message(changed: int) -> str:
    if not changed:
        return "Nothing of these products was different."
    return f"{plural(changed, 'product is', 'products are')} changed. The import of the change can be rolled back."
