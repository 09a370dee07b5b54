"""`/product`: all products and one of them; `/category` and `/manufacturer`: how many products each has."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.tables import Cells, Column, TableOrder, TableParameters
from tradecounter.edge.page_kit.values import label
from tradecounter.edge.pages.listing import Listing, RowsToRead, table_page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.session import has_right, require_right
from tradecounter.parts.back_office import OfficeParts
from tradecounter.prices.queries.prices_of_products import NO_PRICE, CostedPrice, costed_prices_of
from tradecounter.products.find_products import list_products, note_of_search
from tradecounter.products.on_pages import categories_in_tree
from tradecounter.products.queries.products import SHOWN, ProductFilter, ProductSummary, Shown
from tradecounter.products.queries.records import CategoryRecord, read_groups, read_pictured
from tradecounter.products.search.query import as_typed
from tradecounter.stock.queries.stock import StockLevel, stock_levels_of
from tradecounter.storefront.shown_product import look_of

_PRODUCT_COLUMNS = (
    Column("Product"),
    Column("State"),
    Column("Price", numeric=True),
    Column("10 and more", numeric=True),
    Column("Costs you", numeric=True),
    Column("Available", numeric=True),
    Column("Allocated", numeric=True),
    Column("Back-ordered", numeric=True),
)
_NO_STOCK = StockLevel()
_COSTS = "prices:write"  # what the reseller pays is for those who set prices
_PRODUCT_CELLS: Cells = {
    **{name: f"product.{name}" for name in ("sku", "name", "manufacturer", "ean")},
    "active": lambda row: "yes" if row.product.active else "no",
    "price": "price.single_unit_cost",
    "price_of_ten": "price.of_ten",
    "purchase_cost": "price.purchase_cost",
    **{name: f"level.{name}" for name in ("available", "allocated", "back_ordered")},
}
_NEEDS = {
    **dict.fromkeys(("Price", "10 and more", "price", "price_of_ten"), "prices:read"),
    **dict.fromkeys(("Costs you", "purchase_cost"), _COSTS),
}


def _choices(call: Call) -> list[tuple[Shown, str]]:
    return [(show, label(show)) for show in SHOWN if show != "below_cost" or has_right(call.request, _COSTS)]


def _category_choices(categories: Sequence[CategoryRecord], chosen: str | None) -> list[tuple[str, str]]:
    """Return the categories to choose from. A link may name one by its name or in other case, as the filter does.

    The one category that is chosen so has the value of the link; a name of several, or of none, is one more choice.
    """
    choices = categories_in_tree(categories)
    said = (chosen or "").strip().lower()
    if not chosen or not said or any(category.key == chosen for category in categories):
        return choices
    named = [category.key for category in categories if said in (category.key.lower(), category.name.lower())]
    if len(named) == 1:
        return [(chosen if key in named else key, name) for key, name in choices]
    return [(chosen, f"All named {chosen}" if named else chosen), *choices]


class ProductTable(TableParameters, frozen=True, kw_only=True):
    """The filters of the table, as those of `GET /api/product`."""

    query: str | None = None
    manufacturer: str | None = None
    category: str | None = None
    show: Shown | None = None
    external_id: str | None = None


class StockedProduct(Struct, frozen=True):
    """A row of the table."""

    product: ProductSummary
    level: StockLevel
    price: CostedPrice


class ProductListPages(Struct, frozen=True):
    """The list of products."""

    desk: PageDesk
    parts: OfficeParts

    async def _values(self, call: Call, listing: Listing[ProductTable, StockedProduct]) -> dict[str, Any]:
        """Return what the page has and the file has not.

        The pictures, the names of manufacturers, the choices of the filters, and how the words of the search were read,
        with the search as typed.
        """
        words = listing.wanted.query or ""
        note = await note_of_search(self.parts.views, words)
        async with self.desk.reading() as tx:
            categories, manufacturers = await read_groups(tx)
            pictured = await read_pictured(tx, [row.product.sku_key for row in listing.rows])
        names = {category.key: category.name for category in categories}
        return {
            "looks": {key: look_of(each, names) for key, each in pictured.items()},
            "choices": _choices(call),
            "manufacturers": {manufacturer.key: manufacturer.name for manufacturer in manufacturers},
            "category_choices": _category_choices(categories, listing.wanted.category),
            "note": note,
            "typed": as_typed(words),
        }

    @table_page(
        "/product",
        "Products",
        columns=_PRODUCT_COLUMNS,
        order=TableOrder({"sku": str}, "sku", lambda row, _: (row.product.sku_key, 0)),
        template="products/list.html",
        file="products",
        cells=_PRODUCT_CELLS,
        needs=_NEEDS,
        values=_values,
        scope="catalogue:read",
    )
    async def list_products(
        self, tx: Transaction, call: Call, wanted: ProductTable, at: RowsToRead
    ) -> list[StockedProduct]:
        if wanted.show == "below_cost":
            require_right(call.request, _COSTS)
        after = "" if at["after"] is None else at["after"][0]
        words = text("query", wanted.query) or ""
        product_filter = ProductFilter(
            show=wanted.show,
            manufacturer=text("manufacturer", wanted.manufacturer) or None,
            external_id=text("external_id", wanted.external_id) or None,
            category=text("category", wanted.category) or None,
        )
        products = await list_products(tx, self.parts.views, words, product_filter, after, wanted.most)
        keys = [product.sku_key for product in products]
        levels = await stock_levels_of(tx, keys)
        prices = await costed_prices_of(tx, "default", keys) if has_right(call.request, "prices:read") else {}
        return [
            StockedProduct(each, levels.get(each.sku_key, _NO_STOCK), prices.get(each.sku_key, NO_PRICE))
            for each in products
        ]
